//! `softdpu devices` and `softdpu caps`: the same answers as a C program gets.

mod common;

use std::fs;

use common::{command, fails, folder, ok, softdpu, watchdog};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in\n{text}"))
}

#[test]
fn the_default_card() {
    let _watchdog = watchdog("the_default_card");
    let folder = folder("devices");
    let document = json(&ok(softdpu(&folder).args(["devices", "--json"])));
    assert_eq!(document["card"]["profile"], "all");
    assert_eq!(document["cards"].as_array().unwrap().len(), 1);
    assert_eq!(document["cards"][0], document["card"]);
    let rows: Vec<_> = document["devices"].as_array().unwrap().iter().collect();
    let column = |name: &str| rows.iter().map(|r| r[name].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(column("pci"), ["0000:03:00.0", "0000:03:00.1", "0000:b1:00.0", "0000:b1:00.1"]);
    assert_eq!(column("side"), ["dpu", "dpu", "host", "host"]);
    assert_eq!(column("ibdev"), ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]);
    assert_eq!(column("iface"), ["p0", "p1", "enp177s0f0np0", "enp177s0f1np1"]);
    for row in &rows {
        assert_eq!(row["engines"]["dma"], true);
        for name in ["ipv4", "ipv6", "mac", "gid"] {
            assert!(row[name].is_string(), "{name}");
        }
    }
    assert_eq!(rows[0]["representors"][0]["pci"], "0000:b1:00.0");
    assert_eq!(column("backend"), ["loop"; 4]);
    assert_eq!(column("wired_to"), ["p1", "p0", "pf0hpf", "pf1hpf"]);
    let tap = json(&ok(softdpu(&folder).args(["devices", "--json"]).env("SOFTDPU_PORT_p0", "tap:sd0")));
    assert_eq!(tap["devices"][0]["backend"], "tap:sd0");
    assert!(tap["devices"][0]["wired_to"].is_null());
    let wrong = fails(softdpu(&folder).arg("devices").env("SOFTDPU_PORT_p1", "tun:x"), 2);
    assert!(wrong.contains("SOFTDPU_PORT_p1") && wrong.contains("allowed: loop, tap"), "{wrong}");
    assert_eq!(rows[0]["representors"][0]["name"], "pf0hpf");
    assert_eq!(rows[2]["representors"].as_array().unwrap().len(), 0);
    // The table for people has the same functions.
    let table = ok(softdpu(&folder).arg("devices"));
    for pci in column("pci") {
        assert!(table.contains(pci), "{table}");
    }
}

#[test]
fn options_and_environment_choose() {
    let _watchdog = watchdog("options_and_environment_choose");
    let folder = folder("choose");
    let sides = |text: &str| {
        let document = json(text);
        let rows = document["devices"].as_array().unwrap().clone();
        rows.iter().map(|r| r["side"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(sides(&ok(softdpu(&folder).args(["devices", "--json", "--side", "dpu"]))), ["dpu", "dpu"]);
    let mut host = softdpu(&folder);
    assert_eq!(sides(&ok(host.args(["devices", "--json"]).env("SOFTDPU_SIDE", "host"))), ["host", "host"]);
    let document = json(&ok(softdpu(&folder).args(["devices", "--json", "--profile", "cx7"])));
    assert_eq!(document["card"]["profile"], "cx7");
    assert_eq!(document["devices"][0]["engines"]["dma"], false);
    let caps = json(&ok(softdpu(&folder).args(["caps", "b1:00.0", "--json"]).env("SOFTDPU_PROFILE", "cx7")));
    assert_eq!(caps["devices"].as_array().unwrap().len(), 1);
    assert_eq!(
        call(&caps["devices"][0], "doca_dma_cap_task_memcpy_is_supported"),
        "DOCA_ERROR_NOT_SUPPORTED"
    );
}

#[test]
fn wrong_use_is_explained() {
    let _watchdog = watchdog("wrong_use_is_explained");
    let folder = folder("wrong use");
    let error = fails(softdpu(&folder).args(["caps", "04:00.0"]), 1);
    assert!(error.contains("04:00.0") && error.contains("0000:b1:00.1"), "{error}");
    let error = fails(softdpu(&folder).args(["devices", "--profile", "bf7"]), 2);
    assert!(error.contains("bf7") && error.contains("bf2"), "{error}");
    assert!(fails(softdpu(&folder).args(["devices", "--yaml"]), 2).contains("--yaml"));
    assert!(fails(softdpu(&folder).args(["device"]), 2).contains("device"));
    fails(&mut softdpu(&folder), 2);
    assert!(ok(softdpu(&folder).arg("--help")).contains("Usage: softdpu"));
    for name in ["devices", "caps", "demo", "run", "cc", "bench", "top"] {
        let text = ok(softdpu(&folder).args([name, "--help"]));
        assert!(text.contains(&format!("Usage: softdpu {name}")), "{text}");
        let option = |line: &str| line.trim_start().starts_with("--");
        assert!(text.lines().filter(|line| option(line)).all(|line| line.starts_with("  --")), "{text}");
    }
}

fn call<'a>(device: &'a Value, name: &str) -> &'a str {
    let caps = device["caps"].as_array().unwrap();
    let cap = caps.iter().find(|c| c["call"] == name).unwrap_or_else(|| panic!("no {name}"));
    cap["answer"].as_str().unwrap()
}

/// Asks the library itself; prints one line per device and call.
const ASKS: &str = r#"
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <inttypes.h>
#include <stdio.h>

static char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];

static void line(const char *call, doca_error_t status, uint64_t value)
{
	printf("%s %s %s", pci, call, doca_error_get_name(status));
	if (status == DOCA_SUCCESS)
		printf(" %" PRIu64, value);
	printf("\n");
}

#define ASK(type, call, object) do { type value = 0; doca_error_t s = call(object, &value); line(#call, s, value); } while (0)
#define CAN(call, object) line(#call, call(object), 0)

int main(void)
{
	struct doca_devinfo **list;
	uint32_t count, i;

	if (doca_devinfo_create_list(&list, &count) != DOCA_SUCCESS)
		return 1;
	for (i = 0; i < count; i++) {
		struct doca_dev *dev;
		struct doca_dma *dma;

		if (doca_devinfo_get_pci_addr_str(list[i], pci) != DOCA_SUCCESS)
			return 1;
		ASK(uint8_t, doca_devinfo_cap_is_hotplug_manager_supported, list[i]);
		ASK(uint8_t, doca_devinfo_cap_is_notification_moderation_supported, list[i]);
		ASK(uint8_t, doca_devinfo_cap_is_accelerate_resource_reclaim_supported, list[i]);
		ASK(uint8_t, doca_devinfo_rep_cap_is_filter_all_supported, list[i]);
		ASK(uint8_t, doca_devinfo_rep_cap_is_filter_net_supported, list[i]);
		ASK(uint8_t, doca_devinfo_rep_cap_is_filter_emulated_supported, list[i]);
		ASK(uint32_t, doca_ctx_cap_get_num_completion_vectors, list[i]);
		ASK(uint8_t, doca_mmap_cap_is_export_pci_supported, list[i]);
		ASK(uint8_t, doca_mmap_cap_is_create_from_export_pci_supported, list[i]);
		ASK(size_t, doca_mmap_cap_get_max_export_access_token_size, list[i]);
		ASK(uint64_t, doca_dma_cap_task_memcpy_get_max_buf_size, list[i]);
		ASK(uint32_t, doca_dma_cap_task_memcpy_get_max_buf_list_len, list[i]);
		CAN(doca_dma_cap_task_memcpy_is_supported, list[i]);
		CAN(doca_comch_cap_server_is_supported, list[i]);
		CAN(doca_comch_cap_client_is_supported, list[i]);
		CAN(doca_comch_producer_cap_is_supported, list[i]);
		CAN(doca_comch_consumer_cap_is_supported, list[i]);
		ASK(uint32_t, doca_comch_cap_get_max_name_len, list[i]);
		ASK(uint32_t, doca_comch_cap_get_max_msg_size, list[i]);
		ASK(uint32_t, doca_comch_cap_get_max_recv_queue_size, list[i]);
		ASK(uint32_t, doca_comch_cap_get_max_clients, list[i]);
		ASK(uint32_t, doca_comch_cap_get_max_send_tasks, list[i]);
		ASK(uint32_t, doca_comch_producer_cap_get_max_num_tasks, list[i]);
		ASK(uint32_t, doca_comch_producer_cap_get_max_buf_size, list[i]);
		ASK(uint32_t, doca_comch_producer_cap_get_max_buf_list_len, list[i]);
		ASK(uint32_t, doca_comch_producer_cap_get_max_producers, list[i]);
		ASK(uint32_t, doca_comch_consumer_cap_get_max_num_tasks, list[i]);
		ASK(uint32_t, doca_comch_consumer_cap_get_max_buf_size, list[i]);
		ASK(uint32_t, doca_comch_consumer_cap_get_max_buf_list_len, list[i]);
		ASK(uint32_t, doca_comch_consumer_cap_get_max_consumers, list[i]);
		ASK(uint32_t, doca_comch_consumer_cap_get_max_imm_data_len, list[i]);
		ASK(uint32_t, doca_rdma_cap_get_max_recv_queue_size, list[i]);
		ASK(uint32_t, doca_rdma_cap_get_max_send_queue_size, list[i]);
		ASK(uint32_t, doca_rdma_cap_get_max_send_buf_list_len, list[i]);
		ASK(uint32_t, doca_rdma_cap_get_max_message_size, list[i]);
		ASK(uint32_t, doca_rdma_cap_get_gid_table_size, list[i]);
		CAN(doca_rdma_cap_task_receive_is_supported, list[i]);
		CAN(doca_rdma_cap_task_send_is_supported, list[i]);
		CAN(doca_rdma_cap_task_send_imm_is_supported, list[i]);
		CAN(doca_rdma_cap_task_read_is_supported, list[i]);
		CAN(doca_rdma_cap_task_write_is_supported, list[i]);
		CAN(doca_rdma_cap_task_write_imm_is_supported, list[i]);
		CAN(doca_rdma_cap_task_atomic_cmp_swp_is_supported, list[i]);
		CAN(doca_rdma_cap_task_atomic_fetch_add_is_supported, list[i]);
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) != DOCA_SUCCESS)
			continue;
		if (doca_dev_open(list[i], &dev) != DOCA_SUCCESS || doca_dma_create(dev, &dma) != DOCA_SUCCESS)
			return 1;
		ASK(uint32_t, doca_dma_cap_get_max_num_tasks, dma);
		if (doca_dma_destroy(dma) != DOCA_SUCCESS || doca_dev_close(dev) != DOCA_SUCCESS)
			return 1;
	}
	return doca_devinfo_destroy_list(list) == DOCA_SUCCESS ? 0 : 1;
}
"#;

#[test]
fn the_command_and_the_library_agree() {
    let _watchdog = watchdog("the_command_and_the_library_agree");
    let folder = folder("agree");
    fs::write(folder.join("asks.c"), ASKS).unwrap();
    ok(softdpu(&folder).args(["cc", "-DDOCA_ALLOW_EXPERIMENTAL_API", "asks.c", "-o", "asks"]));
    for profile in ["all", "bf2", "bf3", "cx7"] {
        for side in ["both", "dpu", "host"] {
            let mut program = command(folder.join("asks"), &folder);
            let printed = ok(program.env("SOFTDPU_PROFILE", profile).env("SOFTDPU_SIDE", side));
            if (profile, side) == ("cx7", "dpu") {
                assert_eq!(printed, "", "a plain NIC has no card side");
                fails(softdpu(&folder).args(["caps", "--profile", profile, "--side", side]), 1);
                continue;
            }
            let caps =
                json(&ok(softdpu(&folder).args(["caps", "--json", "--profile", profile, "--side", side])));
            assert!(printed.lines().count() > 13);
            for line in printed.lines() {
                let words: Vec<_> = line.split(' ').collect();
                let device =
                    caps["devices"].as_array().unwrap().iter().find(|d| d["pci"] == words[0]).unwrap();
                let cap = device["caps"].as_array().unwrap().iter().find(|c| c["call"] == words[1]).unwrap();
                assert_eq!(cap["answer"], words[2], "{profile} {side}: {line}");
                if let (Some(value), Some(word)) = (cap["value"].as_u64(), words.get(3)) {
                    assert_eq!(value.to_string(), *word, "{profile} {side}: {line}");
                }
            }
        }
    }
}
