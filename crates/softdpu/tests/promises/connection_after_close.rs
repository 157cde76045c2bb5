// E0382: nothing is sent on a connection that was closed.
use softdpu::comch::Connection;

pub async fn late(connection: Connection) {
    let _ = connection.close().await;
    let _ = connection.send(b"late").await;
}
