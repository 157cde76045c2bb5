//! Every way out of the library, with a plain receiver of the test at its end that reads what arrives by the rules of
//! the format, not with the library's own code.

use serde_json::Value;
use softdpu_telemetry::netflow::{Builder, FieldSpec, Template};
use softdpu_telemetry::{
    AttributeType, Field, FieldType, LabelSetId, RecordType, Schema, Value as LogValue, default_root,
};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("softdpu-telemetry-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Every line of the files below `folder` whose name has `part`, as JSON, in the order of the names.
fn lines(folder: &Path, part: &str) -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.file_name().unwrap().to_str().unwrap().contains(part));
    files.sort();
    let text: String = files.iter().map(|f| fs::read_to_string(f).unwrap()).collect();
    assert!(text.is_empty() || text.ends_with('\n'), "whole lines only");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn schema(folder: &Path) -> softdpu_telemetry::SchemaBuilder {
    Schema::builder("plant").data_root(folder).serve_metrics(None)
}

#[test]
fn records_become_lines_and_the_schema_says_what_they_are() {
    let folder = folder("records");
    let mut builder = schema(&folder).write_files().buf_size(50);
    let a = RecordType::new("a")
        .field(Field::new("n", FieldType::Uint64))
        .field(Field::new("s", FieldType::Char).array(2));
    let b = RecordType::new("b").field(Field::new("x", FieldType::Int16).array(3).describe("three"));
    let (a, b) = (builder.add_type(a).unwrap(), builder.add_type(b).unwrap());
    let schema = builder.start().unwrap();
    assert_eq!(
        (schema.record_size(a), schema.record_size(b), schema.record_size(7)),
        (Some(10), Some(6), None)
    );
    let mut source = schema.source("s/1", "t").unwrap();

    // 12 records of 10 bytes into a buffer of 50: two full buffers are written, two records wait.
    let records: Vec<u8> = (0..12u64).flat_map(|i| [&i.to_ne_bytes()[..], b"ok"].concat()).collect();
    source.report(a, &records).unwrap();
    let written = lines(&folder.join("plant"), "s_1-t");
    assert_eq!(written.len(), 10);
    source.report(b, &[1, 0, 255, 255, 0, 128]).unwrap();
    source.flush().unwrap();
    let written = lines(&folder.join("plant"), "s_1-t");
    assert_eq!(written.len(), 13);
    for (i, line) in written[..12].iter().enumerate() {
        assert_eq!(line["data"], serde_json::json!({"n": i, "s": "ok"}));
        assert_eq!((&line["source"], &line["tag"], &line["type"]), (&"s/1".into(), &"t".into(), &"a".into()));
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!(written[12]["data"], serde_json::json!({"x": [1, -1, -32768]}));

    let description: Value =
        serde_json::from_slice(&fs::read(folder.join("plant.schema.json")).unwrap()).unwrap();
    assert_eq!(description["types"][0]["size"], 10);
    assert_eq!(description["types"][1]["fields"][0]["description"], "three");
    assert_eq!(description["types"][0]["fields"][1]["offset"], 8);

    // Refusals change nothing.
    assert!(source.report(9, &[]).is_err() && source.report(a, &[0; 11]).is_err());
    source.report(b, &[0; 6]).unwrap();
    drop(source);
    assert_eq!(lines(&folder.join("plant"), "s_1-t").len(), 14, "dropping writes out");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_record_larger_than_the_buffer_is_refused() {
    let folder = folder("large");
    let mut builder = schema(&folder).write_files().buf_size(9);
    let t =
        builder.add_type(RecordType::new("t").field(Field::new("x", FieldType::Uint8).array(10))).unwrap();
    let mut source = builder.start().unwrap().source("s", "").unwrap();
    assert_eq!(source.report(t, &[0; 10]).unwrap_err().code(), softdpu_status_code("NO_MEMORY"));
    fs::remove_dir_all(folder).unwrap();
}

fn softdpu_status_code(name: &str) -> softdpu_status::Code {
    let wanted = format!("DOCA_ERROR_{name}");
    *softdpu_status::Code::ALL.iter().find(|code| code.name() == wanted).unwrap()
}

#[test]
fn no_schema_starts_on_a_folder_that_is_a_file() {
    let folder = folder("blocked");
    fs::write(folder.join("file"), "").unwrap();
    let refused = schema(&folder.join("file")).write_files().start().unwrap_err();
    assert_eq!(refused.code(), softdpu_status_code("INITIALIZATION"));
    fs::remove_dir_all(folder).unwrap();
}

/// What one HTTP request to `listener` carried: its first line and its body; `status` is the answer.
fn take_post(listener: &TcpListener, status: &str) -> (String, Value) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut all = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "the request ended early");
        all.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&all);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|l| l.strip_prefix("Content-Length: ")).expect("a length");
        if body.len() >= length.parse::<usize>().unwrap() {
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}").unwrap();
            let first = head.lines().next().unwrap().to_owned();
            return (first, serde_json::from_str(body).unwrap());
        }
    }
}

/// Runs one test of this file in a process of its own, with environment, as libraries read it.
fn alone(name: &str, environment: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--ignored", "--nocapture"]).envs(environment.iter().copied());
    let out = child.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn documents_reach_a_collector() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}", listener.local_addr().unwrap());
    let (to, from) = mpsc::channel();
    // The first answer asks for patience: the same document comes again.
    std::thread::spawn(move || {
        for status in ["503 Service Unavailable", "200 OK", "200 OK"] {
            to.send(take_post(&listener, status)).unwrap();
        }
    });
    alone("documents_reach_a_collector_child", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &place)]);
    let all: Vec<(String, Value)> = (0..3).map(|_| from.recv_timeout(LONG).unwrap()).collect();
    assert_eq!(all[0], all[1]);
    let (logs, metrics): (Vec<_>, Vec<_>) = all[1..].iter().partition(|(line, _)| line.contains("logs"));
    assert_eq!(logs[0].0, "POST /v1/logs HTTP/1.1");
    assert_eq!(metrics[0].0, "POST /v1/metrics HTTP/1.1");
    check_logs(&logs[0].1);
    check_metrics(&metrics[0].1);
}

#[test]
#[ignore = "run by another test, with environment"]
fn documents_reach_a_collector_child() {
    let folder = folder("documents");
    let schema = schema(&folder).write_files().opaque_events().start().unwrap();
    let source = schema.source("s", "t").unwrap();
    report_everything(&source);
    drop(source);
    drop(schema);
    let logs = lines(&folder.join("plant"), "s-t-logs");
    let metrics = lines(&folder.join("plant"), "s-t-metrics");
    assert_eq!((logs.len(), metrics.len()), (1, 1));
    check_logs(&logs[0]);
    check_metrics(&metrics[0]);
    fs::remove_dir_all(folder).unwrap();
}

fn report_everything(source: &softdpu_telemetry::Source) {
    let mut logs = source.logs().unwrap();
    let resource = logs.add_resource();
    logs.add_resource_attribute(resource, "host", LogValue::Text("h")).unwrap();
    logs.add_resource_attribute(resource, "cores", LogValue::Int(-2)).unwrap();
    let attributes = [("why", AttributeType::Text), ("count", AttributeType::Int)];
    let scope = logs.add_scope("scope", "1.2", "stopped", "WARN", &attributes).unwrap();
    logs.write(resource, scope, &[LogValue::Text("hot"), LogValue::Int(i64::MIN)], None).unwrap();
    logs.write(resource, scope, &[LogValue::Text("cold"), LogValue::Int(1)], Some("odd")).unwrap();
    assert!(logs.write(resource, scope, &[LogValue::Int(1), LogValue::Int(1)], None).is_err());
    assert!(logs.write(resource, scope, &[], None).is_err());
    logs.flush().unwrap();
    drop(logs);

    let mut metrics = source.metrics().unwrap();
    metrics.set_flush_interval(None);
    metrics.add_constant_label("site", "lab").unwrap();
    let set = metrics.add_label_names(&["port", "queue"]).unwrap();
    metrics.counter(5, "frames", 10, set, &["p0", "1"]).unwrap();
    metrics.count(6, "frames", 5, set, &["p0", "1"]).unwrap();
    metrics.count(6, "frames", u64::MAX, set, &["p0", "2"]).unwrap();
    metrics.gauge(7, "heat", 21.5, LabelSetId::NONE, &[]).unwrap();
    assert!(metrics.gauge(7, "frames", 1.0, set, &["p0", "1"]).is_err(), "it is a counter");
    assert!(metrics.gauge(7, "x", 1.0, set, &["p0"]).is_err(), "two labels, one value");
    assert!(metrics.gauge(7, "x", 1.0, LabelSetId(9), &[]).is_err(), "no such set");
    metrics.flush().unwrap();
}

fn check_logs(document: &Value) {
    let resource = &document["resourceLogs"][0];
    let attributes = resource["resource"]["attributes"].as_array().unwrap();
    let get = |key: &str| &attributes.iter().find(|a| a["key"] == key).unwrap()["value"];
    assert_eq!(get("host")["stringValue"], "h");
    assert_eq!(get("cores")["intValue"], "-2");
    assert_eq!(get("service.name")["stringValue"], "plant");
    let scope = &resource["scopeLogs"][0];
    assert_eq!((&scope["scope"]["name"], &scope["scope"]["version"]), (&"scope".into(), &"1.2".into()));
    let records = scope["logRecords"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!((&records[0]["severityText"], &records[0]["severityNumber"]), (&"WARN".into(), &13.into()));
    assert_eq!((&records[1]["severityText"], records[1].get("severityNumber")), (&"odd".into(), None));
    assert_eq!(records[0]["eventName"], "stopped");
    assert_eq!(records[0]["attributes"][1]["value"]["intValue"], i64::MIN.to_string());
    assert!(records[0]["timeUnixNano"].as_str().unwrap().parse::<u64>().unwrap() > 1_700_000_000_000_000_000);
}

fn check_metrics(document: &Value) {
    let metrics = document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let get = |name: &str| metrics.iter().find(|m| m["name"] == name).unwrap();
    let sum = &get("frames")["sum"];
    assert_eq!((&sum["aggregationTemporality"], &sum["isMonotonic"]), (&2.into(), &true.into()));
    let points = sum["dataPoints"].as_array().unwrap();
    assert_eq!((&points[0]["asInt"], &points[1]["asInt"]), (&"15".into(), &i64::MAX.to_string().into()));
    assert_eq!(points[0]["timeUnixNano"], "6000");
    let labels: Vec<_> =
        points[0]["attributes"].as_array().unwrap().iter().map(|a| a["key"].clone()).collect();
    assert_eq!(labels, ["site", "port", "queue"]);
    assert_eq!(get("heat")["gauge"]["dataPoints"][0]["asDouble"], 21.5);
}

#[test]
fn prometheus_finds_the_present_values() {
    let folder = folder("scrape");
    let builder = schema(&folder).serve_metrics(Some("127.0.0.1:0".into()));
    let schema = builder.start().unwrap();
    let address = schema.metrics_address().unwrap();
    let source = schema.source("s", "").unwrap();
    let mut metrics = source.metrics().unwrap();
    let set = metrics.add_label_names(&["na me"]).unwrap();
    metrics.counter(0, "frames.total", 3, set, &["a\"b\\c\nd"]).unwrap();
    metrics.count(0, "frames.total", 4, set, &["a\"b\\c\nd"]).unwrap();
    metrics.gauge(0, "heat", f64::INFINITY, LabelSetId::NONE, &[]).unwrap();

    let answer = ask(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", page.len())), "{head}");
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(
        lines,
        [
            "# TYPE frames_total counter",
            r#"frames_total{na_me="a\"b\\c\nd",source_id="s"} 7"#,
            "# TYPE heat gauge",
            r#"heat{source_id="s"} +Inf"#,
        ]
    );
    // Bad guests, one of which only opens the door; the next one is served all the same.
    assert!(ask(address, b"GET /other HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert!(ask(address, b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    assert!(ask(address, b"\x16\x03\x01\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(ask(address, &[b'a'; 9000]).starts_with("HTTP/1.1 4"));
    drop(TcpStream::connect(address).unwrap());
    assert!(ask(address, b"HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));

    // A second schema that names the same address shares the server; a foreign listener there is an error.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let refused = Schema::builder("other").serve_metrics(Some(place)).start().unwrap_err();
    assert_eq!(refused.code(), softdpu_status_code("INITIALIZATION"));
    drop((metrics, source, schema));
    let gone = std::time::Instant::now() + LONG;
    while TcpStream::connect(address).is_ok() {
        assert!(std::time::Instant::now() < gone, "the server stays");
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::remove_dir_all(folder).unwrap();
}

fn ask(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    // What is left unread of an overlong request may end in a reset behind the answer.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_service_gets_records_and_acknowledges_them() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let (to, from) = mpsc::channel();
    std::thread::spawn(move || {
        // The first connection breaks without an answer: the message comes again on the next one.
        let (mut first, _) = listener.accept().unwrap();
        let message = pack(&mut first);
        drop(first);
        let (mut second, _) = listener.accept().unwrap();
        loop {
            let again = pack(&mut second);
            let id = again[2]["chunk"].as_str().unwrap().to_owned();
            let mut answer = vec![0x81, 0xa3];
            answer.extend_from_slice(b"ack");
            answer.push(0xa0 | id.len() as u8);
            answer.extend_from_slice(id.as_bytes());
            second.write_all(&answer).unwrap();
            if to.send((message.clone(), again)).is_err() {
                return;
            }
        }
    });
    alone("a_service_gets_records_child", &[("SOFTDPU_TELEMETRY_SERVICE", &place)]);
    let (first, again) = from.recv_timeout(LONG).unwrap();
    assert_eq!(first, again);
    assert_eq!(again[0], "plant.t");
    let entries = again[1].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    assert!(entries[0][0].as_u64().unwrap() > 1_700_000_000);
    assert_eq!(entries[2][1]["data"], serde_json::json!({"n": -3, "f": 0.5}));
    assert_eq!(entries[2][1]["source"], "s");
}

#[test]
#[ignore = "run by another test, with environment"]
fn a_service_gets_records_child() {
    let folder = folder("service");
    let mut builder = schema(&folder).deliver_to_service();
    let t = RecordType::new("t")
        .field(Field::new("n", FieldType::Int32))
        .field(Field::new("f", FieldType::Float));
    let t = builder.add_type(t).unwrap();
    let mut source = builder.start().unwrap().source("s", "").unwrap();
    for i in 1..=3i32 {
        source.report(t, &[(-i).to_ne_bytes(), 0.5f32.to_ne_bytes()].concat()).unwrap();
    }
    source.flush().unwrap();
    drop(source);
    fs::remove_dir_all(folder).unwrap();
}

/// One MessagePack value; the protocol's time becomes its seconds.
fn pack(from: &mut impl Read) -> Value {
    fn take<const N: usize>(from: &mut impl Read) -> [u8; N] {
        let mut bytes = [0; N];
        from.read_exact(&mut bytes).expect("more of the message");
        bytes
    }
    fn text(from: &mut impl Read, n: usize) -> Value {
        let mut bytes = vec![0; n];
        from.read_exact(&mut bytes).expect("the text");
        String::from_utf8(bytes).unwrap().into()
    }
    fn map(from: &mut impl Read, n: usize) -> Value {
        (0..n)
            .map(|_| (pack(from).as_str().unwrap().to_owned(), pack(from)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
    let [mark] = take(from);
    match mark {
        0x80..=0x8f => map(from, usize::from(mark & 15)),
        0x90..=0x9f => (0..mark & 15).map(|_| pack(from)).collect::<Vec<_>>().into(),
        0xa0..=0xbf => text(from, usize::from(mark & 31)),
        0xc0 => Value::Null,
        0xc2 | 0xc3 => (mark == 0xc3).into(),
        0xcb => f64::from_be_bytes(take(from)).into(),
        0xcf => u64::from_be_bytes(take(from)).into(),
        0xd3 => i64::from_be_bytes(take(from)).into(),
        0xd7 => {
            let [kind] = take(from);
            assert_eq!(kind, 0);
            let seconds = u32::from_be_bytes(take(from));
            assert!(u32::from_be_bytes(take(from)) < 1_000_000_000);
            seconds.into()
        }
        0xd9 => {
            let [n] = take(from);
            text(from, n.into())
        }
        0xdb => {
            let n = u32::from_be_bytes(take(from));
            text(from, n as usize)
        }
        0xdd => (0..u32::from_be_bytes(take(from))).map(|_| pack(from)).collect::<Vec<_>>().into(),
        0xdf => {
            let n = u32::from_be_bytes(take(from));
            map(from, n as usize)
        }
        other => panic!("mark {other:#x}"),
    }
}

fn template(fields: &[(u16, u16)]) -> Template {
    let mut template = Template::new();
    for &(kind, length) in fields {
        template.add(FieldSpec { kind, length }).unwrap();
    }
    template
}

/// A packet's words, by the standard: sequence, templates by number, and records by template number.
type Parsed = (u32, Vec<(u16, Vec<(u16, u16)>)>, Vec<(u16, Vec<u8>)>);

fn parse(packet: &[u8], sizes: &mut std::collections::BTreeMap<u16, usize>) -> Parsed {
    let short = |at: usize| u16::from_be_bytes(packet[at..at + 2].try_into().unwrap());
    let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
    assert_eq!(short(0), 9, "the version");
    assert_eq!(word(16), 7, "the source");
    let (mut templates, mut records, mut at) = (Vec::new(), Vec::new(), 20);
    while at < packet.len() {
        let (id, length) = (short(at), usize::from(short(at + 2)));
        assert!(length % 4 == 0 && length >= 4 && at + length <= packet.len(), "a flow set of {length}");
        if id == 0 {
            let (number, count) = (short(at + 4), usize::from(short(at + 6)));
            let fields: Vec<_> =
                (0..count).map(|i| (short(at + 8 + 4 * i), short(at + 10 + 4 * i))).collect();
            sizes.insert(number, fields.iter().map(|f| usize::from(f.1)).sum());
            templates.push((number, fields));
        } else {
            let size = sizes[&id];
            let body = &packet[at + 4..at + length];
            assert!(body.len() % size < 4, "only padding may follow");
            records.extend(body.chunks_exact(size).map(|r| (id, r.to_vec())));
        }
        at += length;
    }
    assert_eq!(usize::from(short(2)), templates.len() + records.len(), "the count of records");
    (word(12), templates, records)
}

#[test]
fn flow_records_arrive_in_packets_of_the_standard() {
    let collector = UdpSocket::bind("127.0.0.1:0").unwrap();
    collector.set_read_timeout(Some(LONG)).unwrap();
    let mut builder = Builder::new(7);
    builder.collector("127.0.0.1").port(collector.local_addr().unwrap().port());
    let mut exporter = builder.start().unwrap();
    let small = template(&[(8, 4), (7, 2), (4, 1)]);
    let large = template(&[(96, 1000), (2, 4)]);
    let records: Vec<Vec<u8>> = (0..100u8).map(|i| vec![10, 0, 0, i, 0, i, 6]).collect();
    let refs: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    exporter.send(&small, &refs).unwrap();
    exporter.send(&large, &[&[1; 1004], &[2; 1004]]).unwrap();
    exporter.send(&small, &refs[..1]).unwrap();
    assert!(exporter.send(&small, &[&[0; 6]]).is_err(), "a record of another length");
    assert!(exporter.send(&Template::new(), &[]).is_err(), "no fields");
    drop(exporter);

    let mut sizes = std::collections::BTreeMap::new();
    let mut got = Vec::new();
    // 30 + 30 + 30 + 10 records, two large ones, one more.
    for sequence in 0..7 {
        let mut bytes = [0; 65536];
        let n = collector.recv(&mut bytes).unwrap();
        let (number, templates, records) = parse(&bytes[..n], &mut sizes);
        assert_eq!(number, sequence);
        assert!(n <= 1400 && records.len() <= 30, "{n} bytes, {} records", records.len());
        match sequence {
            0 => assert_eq!(templates, [(256, vec![(8, 4), (7, 2), (4, 1)])]),
            4 => assert_eq!(templates, [(257, vec![(96, 1000), (2, 4)])]),
            _ => assert!(templates.is_empty()),
        }
        got.extend(records);
    }
    let want = records.iter().map(|r| (256, r.clone()));
    let want: Vec<_> =
        want.chain([(257, vec![1; 1004]), (257, vec![2; 1004]), (256, records[0].clone())]).collect();
    assert_eq!(got, want);
}

#[test]
fn a_template_is_told_again_for_collectors_that_come_late() {
    // Whichever address the name has here.
    let collector = UdpSocket::bind("localhost:0").unwrap();
    collector.set_read_timeout(Some(LONG)).unwrap();
    let mut builder = Builder::new(7);
    builder.collector("localhost").port(collector.local_addr().unwrap().port());
    let Ok(mut exporter) = builder.start() else { panic!("localhost has an address") };
    let template = template(&[(1, 4)]);
    let mut sizes = std::collections::BTreeMap::new();
    for sequence in 0..45 {
        exporter.send(&template, &[&[0; 4]]).unwrap();
        exporter.flush().unwrap();
        let mut bytes = [0; 2048];
        let n = collector.recv(&mut bytes).unwrap();
        let (_, templates, _) = parse(&bytes[..n], &mut sizes);
        assert_eq!(templates.len(), usize::from(sequence % 20 == 0), "packet {sequence}");
    }
}

#[test]
fn flow_records_become_lines() {
    let folder = folder("flows");
    alone("flow_records_become_lines_child", &[("SOFTDPU_TELEMETRY_DIR", folder.to_str().unwrap())]);
    let lines = lines(&folder.join("netflow"), "exporter-x");
    assert_eq!(lines.len(), 65);
    assert_eq!(
        lines[64]["data"],
        serde_json::json!({"IPV4_SRC_ADDR": "10.1.2.3", "IPV6_DST_ADDR": "2001:db8::1", "IN_BYTES": 0x01020304,
            "APPLICATION_NAME": "web", "FIELD_999": 64, "FIELD_1000": "00010203040506070809"})
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
#[ignore = "run by another test, with environment"]
fn flow_records_become_lines_child() {
    assert!(default_root().is_dir());
    let template = template(&[(8, 4), (28, 16), (1, 4), (96, 5), (999, 2), (1000, 10)]);
    let mut builder = Builder::new(7);
    // Nobody listens at that port: the files are written all the same.
    builder.id("exporter").tag("x").write_files().deliver_to_service().collector("127.0.0.1").port(1);
    let mut exporter = builder.start().unwrap();
    for i in 0..65u8 {
        let mut record = vec![10, 1, 2, 3];
        record.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4]);
        record.extend_from_slice(b"web\0!");
        record.extend([0, i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        exporter.send(&template, &[&record]).unwrap();
    }
}

#[test]
fn templates_and_collectors_that_cannot_be_are_refused() {
    let mut bad = Template::new();
    for (kind, length) in [(0, 4), (1, 0)] {
        assert!(bad.add(FieldSpec { kind, length }).is_err());
    }
    bad.add(FieldSpec { kind: 1, length: 65_000 }).unwrap();
    assert!(bad.add(FieldSpec { kind: 2, length: 1000 }).is_err(), "larger than a datagram");
    let mut builder = Builder::new(1);
    builder.collector("no such host.invalid");
    assert_eq!(builder.start().unwrap_err().code(), softdpu_status_code("INVALID_VALUE"));
}
