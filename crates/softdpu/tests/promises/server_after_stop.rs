// E0382: a server that was stopped accepts nobody.
use softdpu::comch::Server;

pub fn late(server: Server) {
    let _stopping = server.stop();
    let _client = server.try_accept();
}
