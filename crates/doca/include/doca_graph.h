/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_graph.h: task graphs
 *
 * A graph orders tasks of contexts, functions of the program and other graphs; each run of it is an
 * instance. A node runs once all nodes before it have finished. Everything but the first context
 * nodes runs inside doca_pe_progress() of the engine the graph is bound to, to which the contexts
 * of its nodes must be connected as well.
 *
 * Task callbacks are not called for tasks that run inside a graph; their results are in place
 * before a successor runs. When a node fails, no further node is started, and the error callback
 * follows once those in flight have ended. Each submit ends in exactly one callback, when the
 * instance may be submitted again or destroyed.
 *
 * Threads: graph, instances, contexts and engine belong to one thread at a time.
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stdint.h>
#include <stddef.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_graph;
struct doca_graph_node;
struct doca_graph_instance;

/** End of a run, for success and failure. */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance,
					   union doca_data instance_user_data,
					   union doca_data graph_user_data);

/** Function of a user node; anything but DOCA_SUCCESS fails the run. */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

/* Life cycle */

/**
 * Makes an empty graph, bound to a progress engine for life.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/**
 * Frees a stopped graph with its nodes.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_destroy(struct doca_graph *graph);

/**
 * Checks and freezes the graph. It needs at least one context node, and the contexts of its nodes
 * must be RUNNING. Starting a started graph succeeds.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (see above), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_start(struct doca_graph *graph);

/**
 * Makes the graph changeable again; succeeds on a stopped one.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (instances exist).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_stop(struct doca_graph *graph);

/* Configuration */

/**
 * Sets the callbacks and the largest number of instances. Mandatory, before start.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, 0 instances), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_conf(struct doca_graph *graph,
				 doca_graph_completion_cb_t graph_completion_cb,
				 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances);

/**
 * Sets the value the callbacks receive.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data);

/**
 * Reads it back; 0 when never set.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data);

/*
 * Nodes
 *
 * A node belongs to its graph. It is a first node until another one is put before it.
 */

/**
 * Adds a node that runs a task of ctx.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
					     struct doca_graph_node **node);

/**
 * Adds a node that calls a function of the program.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph,
					      doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node);

/**
 * Adds a node that runs an instance of another, started graph.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started, or sub_graph is not),
 * DOCA_ERROR_NOT_PERMITTED (graphs would nest in a circle), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph,
					       struct doca_graph *sub_graph,
					       struct doca_graph_node **node);

/**
 * Lets `to` run only after `from` has finished.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, node of another graph), DOCA_ERROR_BAD_STATE (started),
 * DOCA_ERROR_NOT_PERMITTED (would close a circle), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
				       struct doca_graph_node *to);

/* Instances */

/**
 * Makes an instance of a started graph.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_NO_MEMORY
 * (as many as configured exist).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
					struct doca_graph_instance **graph_instance);

/**
 * Frees an instance; its tasks stay the program's.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (submitted, or data of a sub-graph
 * node).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/**
 * Sets the value the callbacks receive for this instance.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_IN_USE (submitted).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance,
					       union doca_data user_data);

/**
 * Reads it back; 0 when never set.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance,
					       union doca_data *user_data);

/**
 * Gives a context node its task, allocated from the node's context; it must live as long as the
 * instance.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (submitted),
 * DOCA_ERROR_NOT_PERMITTED (node of another graph or kind, task of another context).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
						   struct doca_graph_node *node,
						   struct doca_task *task);

/**
 * Gives a user node the argument of its function.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (submitted),
 * DOCA_ERROR_NOT_PERMITTED (node of another graph or of another kind).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
						    struct doca_graph_node *node, void *cookie);

/**
 * Gives a sub-graph node its instance, made from the node's graph and not submitted.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (submitted),
 * DOCA_ERROR_NOT_PERMITTED (node of another graph or of another kind).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub_graph_instance);

/**
 * Starts a run. Every node needs its data. A run cannot be cancelled.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, node without data), DOCA_ERROR_IN_USE (submitted
 * already), and what the submit of a first task answers.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_GRAPH_H_ */
