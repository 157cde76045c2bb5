//! The table in `README.md` that says what is covered: a summary of `MATRIX.md`, kept between two marks.

use crate::table::{Function, State};
use std::fmt::Write as _;

/// The file it stands in.
pub(crate) const README: &str = "README.md";
const BEGIN: &str = "<!-- matrix: made by `cargo xtask matrix`, do not edit -->\n";
const END: &str = "<!-- end of matrix -->\n";

/// The README with its table renewed.
///
/// # Errors
/// A mark is missing.
pub(crate) fn renewed(readme: &str, families: &[(&str, Vec<&Function>)]) -> Result<String, String> {
    let (before, rest) = readme.split_once(BEGIN).ok_or(format!("{README}: no line {}", BEGIN.trim()))?;
    let (_, after) = rest.split_once(END).ok_or(format!("{README}: no line {}", END.trim()))?;
    let mut table = String::from("| family | functions | work | missing |\n|---|---|---|---|\n");
    let mut all = (0, 0);
    for (family, rows) in families {
        let missing = rows.iter().filter(|f| f.state == State::Missing).count();
        let _ = writeln!(
            table,
            "| [{family}](MATRIX.md#{family}) | {} | {} | {missing} |",
            rows.len(),
            rows.len() - missing
        );
        all = (all.0 + rows.len(), all.1 + missing);
    }
    let _ = writeln!(table, "| **all** | {} | {} | {} |", all.0, all.0 - all.1, all.1);
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_changes() {
        let table = crate::table::load().expect("a valid table");
        let families = [("dma", table.iter().filter(|f| f.family == "dma").collect::<Vec<_>>())];
        let old = format!("above\n{BEGIN}stale\n{END}below\n");
        let new = renewed(&old, &families).expect("both marks are there");
        assert!(new.starts_with("above\n") && new.ends_with("below\n") && !new.contains("stale"));
        assert!(new.contains("| [dma](MATRIX.md#dma) | 16 |"), "{new}");
        assert_eq!(renewed(&new, &families).as_ref(), Ok(&new));
        assert!(renewed("no marks", &families).is_err());
    }
}
