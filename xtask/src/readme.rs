//! The tables in `README.md` that are made, not written: what is covered, a summary of `MATRIX.md`; and what a task costs
//! at most, from `xtask/budgets.toml`. Each stands between two marks.

use crate::budget;
use crate::table::{Function, State};
use std::fmt::Write as _;

/// The file it stands in.
pub(crate) const README: &str = "README.md";
const MATRIX: [&str; 2] =
    ["<!-- matrix: made by `cargo xtask matrix`, do not edit -->\n", "<!-- end of matrix -->\n"];
const BUDGETS: [&str; 2] =
    ["<!-- budgets: made by `cargo xtask matrix`, do not edit -->\n", "<!-- end of budgets -->\n"];

/// The README with its tables renewed.
///
/// # Errors
/// A mark is missing, or the budgets cannot be read.
pub(crate) fn renewed(readme: &str, families: &[(&str, Vec<&Function>)]) -> Result<String, String> {
    between(&between(readme, MATRIX, &coverage(families))?, BUDGETS, &budget::table()?)
}

fn between(text: &str, [begin, end]: [&str; 2], table: &str) -> Result<String, String> {
    let (before, rest) = text.split_once(begin).ok_or(format!("{README}: no line {}", begin.trim()))?;
    let (_, after) = rest.split_once(end).ok_or(format!("{README}: no line {}", end.trim()))?;
    Ok(format!("{before}{begin}{table}{end}{after}"))
}

fn coverage(families: &[(&str, Vec<&Function>)]) -> String {
    let mut table = String::from("| family | functions | work | missing |\n|---|---|---|---|\n");
    let mut all = (0, 0);
    for (family, rows) in families {
        let missing = rows.iter().filter(|f| f.state == State::Missing).count();
        let (count, work) = (rows.len(), rows.len() - missing);
        let _ = writeln!(table, "| [{family}](MATRIX.md#{family}) | {count} | {work} | {missing} |");
        all = (all.0 + count, all.1 + missing);
    }
    let _ = writeln!(table, "| **all** | {} | {} | {} |", all.0, all.0 - all.1, all.1);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tables_change() {
        let table = crate::table::load().expect("a valid table");
        let families = [("dma", table.iter().filter(|f| f.family == "dma").collect::<Vec<_>>())];
        let block = |[begin, end]: [&str; 2]| format!("{begin}stale\n{end}");
        let old = format!("above\n{}between\n{}below\n", block(MATRIX), block(BUDGETS));
        let new = renewed(&old, &families).expect("all marks are there");
        assert!(new.starts_with("above\n") && new.ends_with("below\n") && !new.contains("stale"));
        assert!(new.contains("between\n") && new.contains("| [dma](MATRIX.md#dma) | 16 |"), "{new}");
        assert_eq!(renewed(&new, &families).as_ref(), Ok(&new));
        assert!(renewed("no marks", &families).is_err());
    }
}
