//! The tables in `README.md` that are made, not written: what is covered, a summary of `MATRIX.md`; and what a task costs
//! at most, from `xtask/budgets.toml`. Each stands between two marks. `README.zh-CN.md` has the same in Chinese.

use crate::budget;
use crate::table::{Function, State};
use std::fmt::Write as _;

/// The file it stands in.
pub(crate) const README: &str = "README.md";
/// The same in Chinese.
pub(crate) const CHINESE: &str = "README.zh-CN.md";
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

/// The Chinese one with its tables renewed.
///
/// # Errors
/// As above.
pub(crate) fn renewed_chinese(readme: &str, families: &[(&str, Vec<&Function>)]) -> Result<String, String> {
    let (matrix, budgets) = (chinese(&coverage(families)), chinese(&budget::table()?));
    between(&between(readme, MATRIX, &matrix)?, BUDGETS, &budgets)
}

/// Cells of the tables in Chinese. A row that is new stays English until somebody puts it down here.
const CELLS: [(&str, &str); 17] = [
    ("| family | functions | work | missing |", "| 函数族 | 函数 | 可用 | 缺少 |"),
    ("| **all** |", "| **合计** |"),
    ("| | at most |", "| | 至多 |"),
    (
        "| 64-byte copy through the C face, 32 in flight, submitted again in the callback |",
        "| 经 C 接口拷贝 64 字节，32 个在途，在回调中再次提交 |",
    ),
    ("| the same, freed and allocated anew for every copy |", "| 同上，每次拷贝都释放并重新分配任务 |"),
    (
        "| 64-byte copy, 32 in flight, posted again by its handler |",
        "| 拷贝 64 字节，32 个在途，由处理函数再次投递 |",
    ),
    (
        "| 64-byte copy, 32 in flight, each future polled before and after it is ready |",
        "| 拷贝 64 字节，32 个在途，每个 future 在就绪前后各轮询一次 |",
    ),
    ("| progress that finds nothing, one context |", "| 一无所获的 progress，1 个上下文 |"),
    ("| progress that finds nothing, 64 contexts |", "| 一无所获的 progress，64 个上下文 |"),
    ("| progress that finds nothing, 1024 contexts |", "| 一无所获的 progress，1024 个上下文 |"),
    (
        "| 100 000 copies in flight over 1000 contexts, against one context |",
        "| 100 000 个拷贝在途，分布于 1000 个上下文，与单个上下文相比 |",
    ),
    (
        "| RDMA write of 64 bytes into a peer's memory through the C face, 32 in flight, submitted again in the callback |",
        "| 经 C 接口向对端内存 RDMA 写 64 字节，32 个在途，在回调中再次提交 |",
    ),
    ("| RDMA read of 64 bytes, likewise |", "| RDMA 读 64 字节，方法相同 |"),
    (
        "| 64-byte copy as in the first row, the program's own part and the linker's included |",
        "| 同第一行的 64 字节拷贝，计入程序自身和链接器的部分 |",
    ),
    (
        "| the same in check mode (`softdpu run --check`), against the row above |",
        "| 同上，在检查模式下（`softdpu run --check`），与上一行相比 |",
    ),
    (" times as much |", " 倍 |"),
    (" instructions |", " 条指令 |"),
];

fn chinese(table: &str) -> String {
    CELLS.iter().fold(table.to_owned(), |text, (english, chinese)| text.replace(english, chinese))
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
    use crate::root;

    /// What both languages have alike: depth of headings, lines of code without their comments, lengths of tables, and
    /// where links lead.
    #[derive(Debug, PartialEq, Eq)]
    struct Shape {
        headings: Vec<usize>,
        code: Vec<String>,
        tables: Vec<usize>,
        links: Vec<String>,
    }

    fn shape(text: &str) -> Shape {
        let mut shape = Shape { headings: vec![], code: vec![], tables: vec![], links: vec![] };
        let (mut inside, mut rows) = (false, 0);
        for line in text.lines() {
            if line.starts_with("```") {
                inside = !inside;
                shape.code.push(line.to_owned());
            } else if inside {
                let code = line.split(" # ").next().unwrap_or_default();
                let code = code.split("/*").next().unwrap_or_default().split("//").next().unwrap_or_default();
                shape.code.push(code.trim_end().to_owned());
            } else if line.starts_with('#') {
                shape.headings.push(line.bytes().take_while(|b| *b == b'#').count());
            }
            match (line.starts_with('|'), rows) {
                (true, _) => rows += 1,
                (false, 1..) => shape.tables.push(std::mem::take(&mut rows)),
                _ => {}
            }
        }
        let mut links: Vec<String> =
            text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect();
        links.retain(|link| link != README && link != CHINESE);
        links.sort();
        shape.links = links;
        shape
    }

    #[test]
    fn both_languages_say_the_same() {
        let (english, chinese) = (root::read(README).expect("there"), root::read(CHINESE).expect("there"));
        let (english, chinese) = (shape(&english), shape(&chinese));
        assert!(english.headings.len() > 8 && english.code.len() > 100 && english.tables.len() >= 4);
        assert_eq!(english.headings, chinese.headings, "headings");
        for (a, b) in english.code.iter().zip(&chinese.code) {
            assert_eq!(a, b, "code of {README} and {CHINESE}");
        }
        assert_eq!(english.code.len(), chinese.code.len(), "lines of code");
        assert_eq!(english.tables, chinese.tables, "rows of tables");
        assert_eq!(english.links, chinese.links, "links");
    }

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
