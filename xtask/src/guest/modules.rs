//! Which files of a kernel have to be loaded, and in which order, for modules to work.

use std::collections::BTreeMap;

/// What `modules.dep` says: a module's file, and those of the modules it needs.
pub(super) struct Modules {
    files: BTreeMap<String, (String, Vec<String>)>,
    builtin: Vec<String>,
}

impl Modules {
    /// From the texts of `modules.dep` and `modules.builtin`.
    pub(super) fn read(dependencies: &str, builtin: &str) -> Modules {
        let file = |line: &str| {
            let (file, needs) = line.split_once(':')?;
            let needs = needs.split_whitespace().map(str::to_owned).collect();
            Some((name(file), (file.to_owned(), needs)))
        };
        Modules {
            files: dependencies.lines().filter_map(file).collect(),
            builtin: builtin.lines().map(name).collect(),
        }
    }

    /// The files to be loaded one after the other; those that the kernel has inside need none.
    ///
    /// # Errors
    /// There is no such module.
    pub(super) fn order(&self, wanted: &[&str]) -> Result<Vec<String>, String> {
        let mut order = Vec::new();
        for module in wanted {
            match self.files.get(*module) {
                Some((file, _)) => self.visit(file, &mut order),
                None if self.builtin.iter().any(|inside| inside == module) => {}
                None => return Err(format!("the kernel has no module {module}")),
            }
        }
        Ok(order)
    }

    fn visit(&self, file: &str, order: &mut Vec<String>) {
        if order.iter().any(|earlier| earlier == file) {
            return;
        }
        if let Some((_, needs)) = self.files.get(&name(file)) {
            needs.iter().for_each(|other| self.visit(other, order));
        }
        order.push(file.to_owned());
    }
}

/// The module's name: that of its file, where hyphens are underscores.
fn name(file: &str) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    base.split(".ko").next().unwrap_or(base).replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_and_once() {
        let modules = Modules::read(
            "kernel/fs/9p/9p.ko.xz: kernel/net/9p/9pnet.ko.xz kernel/fs/netfs/netfs.ko.xz\n\
             kernel/net/9p/9pnet.ko.xz:\n\
             kernel/fs/netfs/netfs.ko.xz:\n\
             kernel/net/9p/9pnet-virtio.ko: kernel/net/9p/9pnet.ko.xz\n",
            "kernel/drivers/virtio/virtio_pci.ko\n",
        );
        let order = modules.order(&["virtio_pci", "9pnet_virtio", "9p"]).unwrap();
        let names: Vec<_> = order.iter().map(|file| name(file)).collect();
        assert_eq!(names, ["9pnet", "9pnet_virtio", "netfs", "9p"]);
        assert!(modules.order(&["rdma_rxe"]).unwrap_err().contains("rdma_rxe"));
    }
}
