//! Is a trace as viewers want it, and does it agree with itself?

use super::{Line, ReadError, each};
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

/// What a trace that is in order has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Lines.
    pub lines: u64,
    /// Processes.
    pub processes: u64,
    /// Tasks from submit to report.
    pub tasks: u64,
    /// Tasks that never were reported.
    pub unfinished: u64,
    /// Spans of any sort.
    pub spans: u64,
    /// Arrows from a submit to a callback, or to the end of a task of which nobody is called.
    pub flows: u64,
    /// Events that were left out.
    pub lost: u64,
}

type Track = (u32, u32);

#[derive(Debug, Default)]
struct Checker {
    found: Checked,
    processes: HashSet<u32>,
    named: HashSet<Track>,
    contexts: HashSet<(u32, String)>,
    used: HashSet<Track>,
    spans: HashMap<Track, Vec<(u64, u64)>>,
    points: HashMap<Track, Vec<u64>>,
    /// Per arrow: its process, its last point, and whether it has arrived.
    flows: HashMap<String, (u32, u64, bool)>,
    /// Tasks without an end, by process.
    unfinished: HashMap<u32, u64>,
    submits: HashMap<u32, u64>,
    reports: HashMap<u32, u64>,
    /// Processes that ended in order, and whether their traces lack nothing.
    ended: HashMap<u32, bool>,
    counters: HashMap<(u32, String), u64>,
}

/// Checks a trace: the form of every line, that spans of a thread or row nest, that arrows point to spans and forward in
/// time, that everything has a name, and that tasks are as many as were submitted.
///
/// # Errors
/// What is wrong first.
pub fn check(from: impl BufRead) -> Result<Checked, ReadError> {
    let mut checker = Checker::default();
    each(from, |_, line| checker.line(line))?;
    checker.whole().map_err(|what| ReadError::Form(0, what))?;
    Ok(checker.found)
}

fn need<T>(value: Option<T>, what: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("no {what}"))
}

impl Checker {
    fn line(&mut self, line: &Line<'_>) -> Result<(), String> {
        self.found.lines += 1;
        if line.pid == 0 || line.name.is_empty() {
            return Err("no process or no name".to_owned());
        }
        let track = (line.pid, line.tid);
        if line.ph != "M" {
            let ts = need(line.ts, "time")?;
            if !(0.0..9e15).contains(&ts) {
                return Err(format!("the time is {ts}"));
            }
        }
        match line.ph {
            "X" => {
                need(line.dur.filter(|dur| *dur > 0.0), "duration")?;
                self.used.insert(track);
                self.spans.entry(track).or_default().push((line.begin(), line.end()));
                self.found.spans += 1;
                match need(line.cat, "category")? {
                    "task" => {
                        self.task(line)?;
                        self.found.tasks += 1;
                        *self.reports.entry(line.pid).or_default() += 1;
                    }
                    "submit" => *self.submits.entry(line.pid).or_default() += 1,
                    "work" | "callback" => {}
                    other => return Err(format!("unknown category {other}")),
                }
            }
            "B" => {
                self.task(line)?;
                self.used.insert(track);
                self.found.unfinished += 1;
                *self.unfinished.entry(line.pid).or_default() += 1;
                *self.reports.entry(line.pid).or_default() += 1;
            }
            "s" | "t" | "f" => self.point(line)?,
            "C" => {
                let tasks = need(line.args.tasks, "count of tasks")?;
                self.counters.insert((line.pid, line.name.clone().into_owned()), tasks);
            }
            "i" => self.found.lost += need(line.args.count, "count of events")?,
            "M" => self.meta(line)?,
            other => return Err(format!("unknown phase '{other}'")),
        }
        Ok(())
    }

    fn task(&self, line: &Line<'_>) -> Result<(), String> {
        let context = need(line.args.context, "context")?;
        need(line.args.task, "task")?;
        let known = self.contexts.contains(&(line.pid, context.to_owned()));
        known.then_some(()).ok_or_else(|| format!("the context {context} was not named before"))
    }

    fn point(&mut self, line: &Line<'_>) -> Result<(), String> {
        let id = need(line.id, "id of the arrow")?;
        let at = line.begin();
        self.points.entry((line.pid, line.tid)).or_default().push(at);
        if line.ph == "s" {
            let again = self.flows.insert(id.to_owned(), (line.pid, at, false)).is_some();
            return if again { Err(format!("a second arrow {id}")) } else { Ok(()) };
        }
        let Some(flow) = self.flows.get_mut(id) else { return Err(format!("the arrow {id} begins nowhere")) };
        if flow.2 || at < flow.1 {
            return Err(format!("the arrow {id} goes on after its end, or backwards"));
        }
        (flow.1, flow.2) = (at, line.ph == "f");
        if line.ph == "f" {
            self.found.flows += 1;
            (line.bp == Some("e")).then_some(()).ok_or("an arrow that ends before its span")?;
        }
        Ok(())
    }

    fn meta(&mut self, line: &Line<'_>) -> Result<(), String> {
        match &*line.name {
            "process_name" => {
                need(line.args.name.as_ref(), "name")?;
                self.found.processes += u64::from(self.processes.insert(line.pid));
            }
            "thread_name" => {
                need(line.args.name.as_ref(), "name")?;
                self.named.insert((line.pid, line.tid));
            }
            "softdpu_context" => {
                need(line.args.engine, "engine")?;
                let name = need(line.args.context, "context")?;
                self.contexts.insert((line.pid, name.to_owned()));
            }
            "softdpu_end" => {
                let torn = need(line.args.torn, "count of torn tasks")?;
                let lacks = torn + line.args.lost.unwrap_or(0) != 0;
                self.ended.insert(line.pid, !lacks);
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self) -> Result<(), String> {
        if let Some((pid, tid)) = self.used.iter().find(|track| !self.named.contains(track)) {
            return Err(format!("process {pid}: thread {tid} has no name"));
        }
        if let Some((pid, _)) = self.used.iter().find(|(pid, _)| !self.processes.contains(pid)) {
            return Err(format!("process {pid} has no name"));
        }
        for (track, spans) in &mut self.spans {
            let points = self.points.remove(track).unwrap_or_default();
            nest(*track, spans, points)?;
        }
        if let Some((pid, tid)) = self.points.keys().next() {
            return Err(format!("process {pid}: an arrow points to thread {tid}, which has no spans"));
        }
        // Only a process that ended in order has written everything.
        for (pid, is_whole) in &self.ended {
            let count = |of: &HashMap<u32, u64>| of.get(pid).copied().unwrap_or(0);
            let (submits, reports) = (count(&self.submits), count(&self.reports));
            if submits != reports {
                return Err(format!("process {pid}: {submits} tasks were submitted, {reports} are shown"));
            }
            let open = self.flows.values().filter(|flow| flow.0 == *pid && !flow.2).count() as u64;
            let unfinished = count(&self.unfinished);
            if *is_whole && open != unfinished {
                return Err(format!(
                    "process {pid}: {open} arrows lead nowhere, {unfinished} tasks have no end"
                ));
            }
        }
        Ok(())
    }
}

/// Spans lie in each other or beside each other, and every point in one.
fn nest((pid, tid): Track, spans: &mut [(u64, u64)], mut points: Vec<u64>) -> Result<(), String> {
    spans.sort_by_key(|&(begin, end)| (begin, u64::MAX - end));
    points.sort_unstable();
    let mut points = points.into_iter().peekable();
    let mut open: Vec<u64> = Vec::new();
    let mut next = spans.iter();
    loop {
        let span = next.next();
        // Points before the next span begins.
        while let Some(at) = points.next_if(|&at| span.is_none_or(|&(begin, _)| at < begin)) {
            while open.last().is_some_and(|&end| end <= at) {
                open.pop();
            }
            if open.is_empty() {
                return Err(format!("process {pid}, thread {tid}: an arrow at {at} ns points to no span"));
            }
        }
        let Some(&(begin, end)) = span else { return Ok(()) };
        while open.last().is_some_and(|&end| end <= begin) {
            open.pop();
        }
        if open.last().is_some_and(|&outer| outer < end) {
            return Err(format!(
                "process {pid}, thread {tid}: the span from {begin} to {end} ns crosses another"
            ));
        }
        open.push(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = concat!(
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},\n",
        "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"t\"}},\n",
        "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"softdpu_context\",\"args\":{\"context\":\"dma 1\",\"engine\":\"dma\"}},\n",
    );

    fn verdict(lines: &[&str]) -> Result<Checked, String> {
        let text = format!("[\n{HEAD}{}\n]\n", lines.join(",\n"));
        check(text.as_bytes()).map_err(|e| e.to_string())
    }

    fn span(cat: &str, ts: f64, dur: f64) -> String {
        format!(
            "{{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"n\",\"cat\":\"{cat}\",\"ts\":{ts},\"dur\":{dur}}}"
        )
    }

    fn point(ph: &str, ts: f64) -> String {
        format!(
            "{{\"ph\":\"{ph}\",\"pid\":1,\"tid\":2,\"name\":\"n\",\"ts\":{ts},\"id\":\"0x1\",\"bp\":\"e\"}}"
        )
    }

    #[test]
    fn spans_must_nest() {
        let (a, b, c) = (span("work", 1.0, 5.0), span("work", 2.0, 4.0), span("work", 5.0, 2.0));
        assert_eq!(verdict(&[&a, &b]).unwrap().spans, 2);
        assert_eq!(verdict(&[&b, &a]).unwrap().spans, 2, "in any order");
        assert!(verdict(&[&a, &c]).unwrap_err().contains("crosses"));
        assert!(verdict(&[&span("work", 1.0, 1.0), &span("work", 2.0, 1.0)]).is_ok(), "beside each other");
    }

    #[test]
    fn arrows_must_point_to_spans_and_forward() {
        let (work, back) = (span("work", 1.0, 5.0), span("callback", 7.0, 1.0));
        let good = [&*work, &back, &point("s", 1.0), &point("t", 2.0), &point("f", 7.0)];
        assert_eq!(verdict(&good).unwrap().flows, 1);
        let early = point("f", 1.5);
        assert!(verdict(&[&work, &back, &point("s", 2.0), &early]).unwrap_err().contains("backwards"));
        assert!(verdict(&[&work, &point("s", 6.0)]).unwrap_err().contains("no span"));
        assert!(verdict(&[&work, &point("t", 2.0)]).unwrap_err().contains("begins nowhere"));
        assert!(verdict(&[&work, &point("s", 2.0), &point("s", 2.0)]).unwrap_err().contains("second"));
    }

    #[test]
    fn arrows_have_both_ends() {
        let end = r#"{"ph":"M","pid":1,"tid":1,"name":"softdpu_end","args":{"torn":0,"lost":0}}"#;
        let (work, begin, arrives) = (span("work", 1.0, 5.0), point("s", 1.0), point("f", 2.0));
        assert_eq!(verdict(&[&work, &begin, &arrives, end]).unwrap().flows, 1);
        assert!(verdict(&[&work, &begin, end]).unwrap_err().contains("1 arrows lead nowhere"));
        let lossy = end.replace("\"lost\":0", "\"lost\":1");
        assert!(verdict(&[&work, &begin, &lossy]).is_ok(), "its end may be among what is lost");
        let flies = r#"{"ph":"B","pid":1,"tid":2,"name":"n","cat":"task","ts":1,"args":{"context":"dma 1","task":"0x1"}}"#;
        let submit = span("submit", 7.0, 0.001);
        assert!(verdict(&[&work, &begin, &submit, flies, end]).is_ok());
    }

    #[test]
    fn everything_must_have_a_name_and_its_number() {
        let end = "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"softdpu_end\",\"args\":{\"torn\":0}}";
        let submit = span("submit", 1.0, 0.001);
        assert!(verdict(&[&submit, end]).unwrap_err().contains("1 tasks were submitted, 0 are shown"));
        assert!(verdict(&[&submit]).is_ok(), "its process was killed");
        let elsewhere = submit.replace("\"tid\":2", "\"tid\":3");
        assert!(verdict(&[&elsewhere]).unwrap_err().contains("has no name"));
        let other =
            span("task", 1.0, 1.0).replace('}', ",\"args\":{\"context\":\"dma 2\",\"task\":\"0x1\"}}");
        assert!(verdict(&[&other]).unwrap_err().contains("not named"));
        assert!(verdict(&[&span("work", 1.0, 0.0)]).unwrap_err().contains("duration"));
        assert!(verdict(&[&span("play", 1.0, 1.0)]).unwrap_err().contains("category"));
    }
}
