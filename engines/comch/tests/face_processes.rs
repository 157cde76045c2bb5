//! The Rust face between two processes, one of which is killed.

mod common;

use common::process::{Process, alone, role, say};
use common::{Job, all};
use softdpu::comch::{Client, Server};
use softdpu::prelude::*;
use std::sync::Arc;

fn session() -> Session {
    Session::builder().profile(softdpu::card::Profile::All).board(Board::threads()).open().unwrap()
}

/// Roles of the tests with two processes.
#[test]
fn roles() {
    let Some(role) = role() else { return };
    let session = session();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let host = session.device("b1:00.0").unwrap().open().unwrap();
    let client = Client::builder("two").start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
    say("connected");
    let memory = Memory::heap(1 << 20).register(&[&host]).unwrap();
    let producer = client.producer().start(&mut pe).unwrap().wait(&mut pe).unwrap();
    let to = pe.run(client.new_consumer()).unwrap();
    let source = memory.pool(4096).unwrap();
    pe.run(async {
        let mut n = 0u32;
        while role == "until killed" || n < 2000 {
            let mut block = source.take().unwrap();
            block.push_slice(&n.to_le_bytes().repeat(1024)).unwrap();
            if producer.send(to, block).await.is_err() || client.send(n.to_le_bytes()).await.is_err() {
                break;
            }
            n += 1;
        }
        client.flush().await.unwrap();
    });
}

/// The card's side of the two processes: how many blocks and messages came.
fn serve(pe: &mut ProgressEngine, server: &Server, kill: Option<&mut Process>) -> (u32, u32) {
    let there = pe.run(server.accept()).unwrap();
    let memory = Memory::heap(1 << 16).access(Access::PCI_READ_WRITE);
    let memory = memory.register(&[there.device()]).unwrap();
    let blocks = memory.pool(4096).unwrap();
    let consumer = there.consumer().memory(&memory).start(pe).unwrap().wait(pe).unwrap();
    for _ in 0..16 {
        consumer.post(blocks.take().unwrap()).unwrap();
    }
    let (there, consumer) = (Arc::new(there), Arc::new(consumer));
    let mut counts = (0u32, 0u32);
    let mut kill = kill;
    pe.run(async {
        let (of_blocks, of_messages) = (&mut counts.0, &mut counts.1);
        let receive = async {
            while let Some(delivery) = consumer.next().await {
                let Ok(delivery) = delivery else { continue };
                let mut buf = delivery.buf.unwrap();
                assert_eq!(buf.to_vec(), of_blocks.to_le_bytes().repeat(1024));
                *of_blocks += 1;
                buf.reset();
                let _ = consumer.post(buf);
            }
        };
        let listen = async {
            while let Some(message) = there.recv().await {
                assert_eq!(message, of_messages.to_le_bytes());
                *of_messages += 1;
                if *of_messages == 500
                    && let Some(process) = &mut kill
                {
                    process.kill();
                }
            }
        };
        all([Box::pin(receive) as Job<'_>, Box::pin(listen)]).await;
    });
    assert!(!there.is_up() && there.counters().is_err());
    assert_eq!(blocks.available(), 16, "every buffer is back");
    counts
}

#[test]
fn two_processes_and_a_killed_one() {
    alone("two_processes_and_a_killed_one", || {
        let session = session();
        let mut pe = ProgressEngine::new(&session).unwrap();
        let card = session.device("03:00.0").unwrap().open().unwrap();
        let server = Server::builder("two").start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
        let mut process = Process::start("a while");
        assert_eq!(serve(&mut pe, &server, None), (2000, 2000));
        assert!(process.wait());
        let mut process = Process::start("until killed");
        let (blocks, messages) = serve(&mut pe, &server, Some(&mut process));
        assert!(messages >= 500 && blocks >= messages, "{blocks} {messages}");
        // And the server goes on.
        let mut process = Process::start("a while");
        assert_eq!(serve(&mut pe, &server, None), (2000, 2000));
        assert!(process.wait());
        server.stop().wait(&mut pe).unwrap();
    });
}
