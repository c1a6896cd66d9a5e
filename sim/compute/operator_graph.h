// The operators of one training step of a transformer and the activations that flow between them.
#pragma once

#include <boost/graph/adjacency_list.hpp>

#include "sim/base/unit.h"
#include "sim/compute/operator.h"
#include "sim/compute/transformer.h"

namespace slmsim {

struct OperatorGraph : boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Operator> {
  using adjacency_list::adjacency_list;
};

// Vertices are numbered so that every edge points to a later vertex: embedding, the layers, head.
OperatorGraph build_operator_graph(const Transformer& model);

// Layers are numbered from 0; operators after the last one carry the number of layers.
int layer_count(const OperatorGraph& graph);
// Elements of the activation between layers, for one sequence: tokens times the hidden size.
double stream_elements(const OperatorGraph& graph);

// All parameters of the model, and the trained ones: fewer with adapters.
double parameter_count(const OperatorGraph& graph);
double trained_count(const OperatorGraph& graph);
// Trained tensors as a loop over a model's parameters sees them, weights and biases apart: GPT-2 has one for queries, keys and
// values (c_attn), models with rotary positions have three; gated MLPs have two before the gate.
double trained_tensors(const OperatorGraph& graph);
// Parameters of an embedding table that the head shares; else 0.
double tied_parameters(const OperatorGraph& operators);

// FLOPs of one training iteration of `sequences` sequences by Alpa's reporting formula (arXiv 2201.12023, artifact:
// compute_gpt_tflop): 72 B S h^2 L (1 + S / 6h) + 6 B S h V; 96 in place of 72 with rematerialisation. It is three
// (four) times all matrix products of the forward pass of a model whose heads are hidden / heads wide and whose MLP has
// two products of 4 hidden; for other models it is the same count of their products.
Flops reported_flops(const Transformer& model, double sequences, bool rematerialisation);

}  // namespace slmsim
