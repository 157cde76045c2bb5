/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_comch.h: host and card talk: servers, clients and their messages
 *
 * A server on the card listens under a name for clients that sit behind a representor, i.e. on one
 * function of the host; a client on that function finds the server by name. Over each connection
 * both ends send control messages (this header), and start producers and consumers for bulk data
 * (doca_comch_producer.h, doca_comch_consumer.h).
 *
 * A server is RUNNING at once. A client's doca_ctx_start() always answers DOCA_ERROR_IN_PROGRESS;
 * the client becomes RUNNING in a later doca_pe_progress(), or IDLE again when no server accepts
 * it.
 *
 * Control messages are reliable and ordered per connection and direction. Stopping a context ends
 * its connections after the messages already submitted.
 *
 * Threads: server and client follow the rule of contexts, one thread at a time. A connection may be
 * shared by producers and consumers of other threads. Capability queries: any thread.
 */
#ifndef DOCA_COMCH_H_
#define DOCA_COMCH_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;
struct doca_comch_connection;
struct doca_comch_server;
struct doca_comch_client;
struct doca_comch_task_send;
struct doca_comch_event_msg_recv;
struct doca_comch_event_connection_status_changed;
struct doca_comch_event_consumer;

/** Counters of a connection, seen from this end. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1, /**< control messages sent */
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,    /**< bytes of control messages sent */
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3, /**< control messages received */
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,    /**< bytes of control messages received */
};

/** Completion of a message, for server and client, for success and failure. */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * A control message arrived. The bytes are valid during the call; they are aligned to 8, may be
 * changed, and one more byte behind them may be written.
 */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event,
					       uint8_t *recv_buffer, uint32_t msg_len,
					       struct doca_comch_connection *comch_connection);

/**
 * A client came or went. change_successful is 0 when the attempt failed, and there is nothing to do.
 * After a disconnection the connection is valid until the callback returns.
 */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *comch_connection, uint8_t change_successful);

/** The peer started a consumer, or one of its consumers is gone; id names it on this connection. */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
					       struct doca_comch_connection *comch_connection,
					       uint32_t id);

/* Connections */

/**
 * Attaches a value to the connection, replacing an earlier one; also inside callbacks.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
						 union doca_data user_data);

/** Reads the value back; 0 when never set. */
DOCA_STABLE
union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

/** The server of a connection; NULL on the client's side. Works inside every callback. */
DOCA_STABLE
struct doca_comch_server *doca_comch_server_get_server_ctx(
	const struct doca_comch_connection *connection);

/** The client of a connection; NULL on the server's side. */
DOCA_STABLE
struct doca_comch_client *doca_comch_client_get_client_ctx(
	const struct doca_comch_connection *connection);

/**
 * Takes a snapshot of the connection's counters.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_CONNECTION_INPROGRESS (not established yet),
 * DOCA_ERROR_CONNECTION_ABORTED (connection is broken).
 */
DOCA_STABLE
doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/**
 * Reads a counter of the last snapshot; 0 without one.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown counter).
 */
DOCA_STABLE
doca_error_t doca_comch_connection_get_counter(
	const struct doca_comch_connection *comch_connection, enum doca_comch_counter counter_type,
	uint64_t *counter_value);

/* Capabilities */

/**
 * Answers DOCA_SUCCESS when a server can run on the device, i.e. on the card.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * Answers DOCA_SUCCESS when a client can run on the device, i.e. on the host.
 *
 * Errors: DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/**
 * Reads the longest server name in bytes, terminating NUL included.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
					     uint32_t *max_name_len);

/**
 * Reads the largest control message in bytes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/**
 * Reads how many received messages can wait for delivery at most.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						    uint32_t *size);

/**
 * Reads how many clients one server can have at a time.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
					    uint32_t *num_clients);

/**
 * Reads the largest pool of send tasks.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
					       uint32_t *max_send_tasks);

/* Server */

/**
 * Makes an idle server on the card's device for clients behind a representor. The name is copied;
 * device and representor must outlive the server. Several servers may share them under different
 * names.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, name empty or too long), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_INITIALIZATION.
 */
DOCA_STABLE
doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
				      const char *name, struct doca_comch_server **comch_server);

/**
 * Frees an idle server.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/** The same object as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * Sets the largest message, in bytes, that this end sends or receives. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
						uint32_t size);

/**
 * Reads the largest message in bytes; the capability by default. Any state.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
						uint32_t *size);

/**
 * Sets how many received messages can wait for delivery. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
						   uint32_t size);

/**
 * Reads how many received messages can wait. Any state.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
						   uint32_t *size);

/**
 * Reads the device given at creation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
					  struct doca_dev **dev);

/**
 * Reads the representor given at creation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
					      struct doca_dev_rep **rep);

/**
 * Drops a client; the peer is told. Allowed inside callbacks, also to refuse a client in its
 * connect callback. No disconnect callback follows here, and the connection is dead on success.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, connection of another server), DOCA_ERROR_IN_USE
 * (producers or consumers are left here), DOCA_ERROR_AGAIN (progress, then repeat).
 */
DOCA_STABLE
doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection);

/**
 * Sets the callbacks and the pool size of send tasks. Mandatory, only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_set_conf(
	struct doca_comch_server *comch_server,
	doca_comch_task_send_completion_cb_t task_completion_cb,
	doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Takes a send task for a connection. msg is ordinary memory, read no later than submit. The task's
 * user data is set with doca_task_set_user_data(). Success means handed over, not delivered.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, empty or too long message, connection of another server),
 * DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_STABLE
doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task);

/**
 * Sets the callback for messages. Only while IDLE; without it none can arrive.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_msg_recv_register(
	struct doca_comch_server *comch_server, doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Sets the callbacks for clients that come and go; both are needed. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/**
 * Sets the callbacks for consumers the peer starts and ends; both are needed. Only while IDLE;
 * without them these events are dropped.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_server_event_consumer_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_consumer_cb_t new_consumer_event_cb,
	doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/* Client */

/**
 * Makes an idle client on a device of the host, looking for the server of that name. The name is
 * copied; the device must outlive the client.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, name empty or too long), DOCA_ERROR_NO_MEMORY,
 * DOCA_ERROR_INITIALIZATION.
 */
DOCA_STABLE
doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **comch_client);

/**
 * Frees an idle client with its connection.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/** The same object as a context; NULL for NULL. */
DOCA_STABLE
struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * Sets the largest message, in bytes, that this end sends or receives. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
						uint32_t size);

/**
 * Reads the largest message in bytes; the capability by default. Any state.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
						uint32_t *size);

/**
 * Sets how many received messages can wait for delivery. Only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client,
						   uint32_t size);

/**
 * Reads how many received messages can wait. Any state.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
						   uint32_t *size);

/**
 * Reads the device given at creation.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
					  struct doca_dev **dev);

/**
 * Reads the client's one connection, once it is RUNNING.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not RUNNING).
 */
DOCA_STABLE
doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection);

/**
 * Sets the callbacks and the pool size of send tasks. Mandatory, only while IDLE.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0, above the capability), DOCA_ERROR_BAD_STATE (not
 * IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_set_conf(
	struct doca_comch_client *comch_client,
	doca_comch_task_send_completion_cb_t task_completion_cb,
	doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Takes a send task for a connection. msg is ordinary memory, read no later than submit. The task's
 * user data is set with doca_task_set_user_data(). Success means handed over, not delivered.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, empty or too long message, connection of another client),
 * DOCA_ERROR_BAD_STATE (not RUNNING), DOCA_ERROR_NO_MEMORY (all tasks taken).
 */
DOCA_STABLE
doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task);

/**
 * Sets the callback for messages. Only while IDLE; without it none can arrive.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_client_event_msg_recv_register(
	struct doca_comch_client *comch_client, doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Sets the callbacks for consumers the peer starts and ends; both are needed. Only while IDLE;
 * without them these events are dropped.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not IDLE).
 */
DOCA_STABLE
doca_error_t doca_comch_client_event_consumer_register(
	struct doca_comch_client *comch_client,
	doca_comch_event_consumer_cb_t new_consumer_event_cb,
	doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/* Send task of either */

/** The same object as a generic task; NULL for NULL. */
DOCA_STABLE
struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_COMCH_H_ */
