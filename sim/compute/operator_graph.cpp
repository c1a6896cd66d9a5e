#include "sim/compute/operator_graph.h"

#include <algorithm>

#include <boost/range/iterator_range.hpp>

namespace slmsim {
namespace {

using Vertex = OperatorGraph::vertex_descriptor;

// FLOPs per element of operators other than matrix products; bound by memory, they need not be exact.
constexpr double kNormFlops = 8, kSoftmaxFlops = 5, kActivationFlops = 8, kResidualFlops = 2, kLossFlops = 5;

// Appends operators in order and connects each to its inputs.
class Builder {
 public:
  Builder(const Transformer& model, OperatorGraph& graph) : model_(model), graph_(graph), rows_(model.sequence) {}

  void build() {
    Vertex stream = embedding();
    if (traits_.embedding_norm) stream = norm(Role::kEmbeddingNorm, stream);
    for (layer_ = 0; layer_ < static_cast<int>(model_.layers); ++layer_) {
      products_ = 0;
      const Vertex attended = attention(stream);
      stream = mlp(traits_.parallel ? stream : attended, attended);
    }
    head(stream);
    if (model_.lora) freeze();
  }

 private:
  double s() const { return static_cast<double>(model_.sequence); }
  double h() const { return static_cast<double>(model_.hidden); }
  double v() const { return static_cast<double>(model_.vocabulary); }
  double token_elements() const { return static_cast<double>(rows_) * h(); }

  Vertex add(Operator op, std::initializer_list<Vertex> inputs) {
    op.layer = layer_;
    op.tokens = static_cast<double>(rows_);
    const Vertex vertex = boost::add_vertex(op, graph_);
    for (const Vertex input : inputs) boost::add_edge(input, vertex, graph_);
    return vertex;
  }

  // Dropout keeps a mask of one byte per element.
  static double mask(bool dropout, double elements) { return dropout ? elements : 0.0; }

  Vertex elementwise(OperatorKind kind, Role role, double inputs, double outputs, double flops_each,
                     double saved_elements, double saved_bytes, std::int64_t columns,
                     std::initializer_list<Vertex> from) {
    Operator op{.kind = kind, .role = role};
    op.dropout = model_.dropout && kind == OperatorKind::kResidual;
    op.columns = columns;
    op.flops = flops_each * outputs;
    op.inputs = inputs;
    op.outputs = outputs;
    op.saved_elements = saved_elements;
    op.saved_bytes = saved_bytes;
    return add(op, from);
  }

  Vertex norm(Role role, Vertex from) {
    Operator op{.kind = OperatorKind::kNorm, .role = role};
    op.parameters = op.weights = traits_.norm_vectors * h();
    op.cast_first = traits_.norm_casts_first && (role == Role::kAttentionBranchNorm || role == Role::kMlpBranchNorm);
    op.centred = !traits_.rms_norm;
    op.flops = kNormFlops * token_elements();
    op.inputs = op.outputs = op.saved_elements = token_elements();
    return add(op, {from});
  }

  Vertex query_norm(Vertex from) {
    Operator op{.kind = OperatorKind::kNorm, .role = Role::kQueryNorm};
    const std::int64_t scales =
        traits_.query_norm == QueryNorm::kShared ? 2 * model_.head_width() : model_.query_width() + model_.kv_width();
    op.parameters = op.weights = static_cast<double>(scales * traits_.query_norm_vectors);
    op.centred = !traits_.rms_norm;
    op.cast_first = traits_.norm_casts_first;
    op.columns = model_.kv_heads;
    op.inputs = op.outputs = op.saved_elements = s() * static_cast<double>(model_.query_width() + model_.kv_width());
    op.flops = kNormFlops * op.outputs;
    return add(op, {from});
  }

  // A product of activations (m tokens) with an n x k weight matrix, divisible into `columns` and `rows` parts.
  Vertex linear(Role role, bool bias, std::int64_t n, std::int64_t k, std::int64_t columns, std::int64_t rows,
                Vertex from, double rotated = 0) {
    Operator op{.kind = OperatorKind::kMatrix, .role = role};
    op.rotated = rotated;
    op.matrix = {1, rows_, n, k};
    op.columns = columns;
    op.rows = rows;
    op.bias = bias ? static_cast<double>(n) : 0.0;
    op.parameters = op.weights = static_cast<double>(n) * static_cast<double>(k) + op.bias;
    op.flops = op.matrix.flops();
    op.inputs = op.saved_elements = static_cast<double>(rows_) * static_cast<double>(k);
    op.outputs = static_cast<double>(rows_) * static_cast<double>(n);
    op.input_unneeded = model_.lora.has_value() && role != Role::kAdapterOut;
    return add(op, {from});
  }

  // Share of the outputs that belong to every second product, for a layer's next products with these widths.
  double share_of_second(std::initializer_list<std::int64_t> widths) {
    double second = 0, all = 0;
    for (const std::int64_t width : widths) {
      all += static_cast<double>(width);
      if (++products_ % 2 == 0) second += static_cast<double>(width);
    }
    return second / all;
  }

  bool reads_stream() const { return !traits_.norm_before && !traits_.norm_behind; }

  // Share of the scores that a token attends to, on average: those of earlier tokens, at most a window of w of s. As a
  // share of areas, (w s - w^2 / 2) / s^2.
  double attended_share(std::int64_t window) const {
    if (!traits_.causal) return 1.0;
    const double part = window > 0 ? std::min(1.0, static_cast<double>(window) / s()) : 1.0;
    return part * (1.0 - part / 2);
  }

  Vertex embedding() {
    Operator op{.kind = OperatorKind::kEmbedding, .role = Role::kEmbedding};
    const std::int64_t positions = traits_.learned_positions ? model_.position_rows() : 0;
    op.parameters = op.weights = (v() + static_cast<double>(positions + traits_.token_types)) * h();
    op.columns = model_.hidden;
    op.rows = model_.vocabulary;
    op.inputs = op.outputs = token_elements();  // the rows looked up
    op.saved_bytes = mask(model_.dropout, token_elements());
    return add(op, {});
  }

  Vertex attention(Vertex stream) {
    const std::int64_t wide = model_.query_width(), kv = model_.kv_width();
    const bool dropout = model_.drops_attention();
    const double squares = static_cast<double>(model_.heads) * s() * s();
    const LayerKind kind = model_.kind_of_layer(layer_);
    const Vertex normed = traits_.norm_before ? norm(Role::kAttentionNorm, stream) : stream;
    attention_input_ = normed;
    // Rotary positions turn queries and keys.
    const double turned = s() * static_cast<double>(wide + kv);
    const double rotated = traits_.learned_positions || !kind.rotary ? 0.0 : traits_.rotary_share * turned;
    const Vertex product = linear(Role::kQkv, traits_.qkv_bias, wide + 2 * kv, model_.hidden, model_.kv_heads,
                                  model_.hidden, normed, rotated);
    graph_[product].second = share_of_second({wide, kv, kv});
    if (kv < wide) graph_[product].repeated = 2 * s() * static_cast<double>(wide);
    graph_[product].products = traits_.joint_qkv ? 1 : 3;
    graph_[product].beside_values = traits_.joint_qkv && rotated > 0 ? turned : 0.0;
    graph_[product].reads_stream = reads_stream();
    const Vertex qkv = adapted(product, normed, model_.hidden,
                               {{LoraTarget::kQuery, wide}, {LoraTarget::kKey, kv}, {LoraTarget::kValue, kv}});
    const Vertex queries = traits_.query_norm == QueryNorm::kNone ? qkv : query_norm(qkv);

    Operator scores{.kind = OperatorKind::kMatrix, .role = Role::kScores};
    scores.matrix = {model_.heads, model_.sequence, model_.sequence, model_.head_width()};
    scores.factor_transposed = true;
    scores.columns = model_.kv_heads;
    scores.flops = scores.matrix.flops();
    scores.inputs = scores.saved_elements = turned;
    scores.outputs = squares;
    scores.attended = attended_share(kind.window);
    const Vertex scored = add(scores, {queries});
    // Kept: the softmax, and with dropout its mask; the product that reads the dropout's output keeps that.
    Operator softmax{.kind = OperatorKind::kSoftmax, .role = Role::kSoftmax};
    softmax.columns = model_.kv_heads;
    softmax.flops = kSoftmaxFlops * squares;
    softmax.inputs = softmax.outputs = softmax.saved_scores = squares;
    softmax.saved_score_bytes = mask(dropout, squares);
    softmax.dropout = dropout;
    softmax.capped = traits_.score_cap;
    if (softmax.capped) softmax.saved_scores += squares;  // input of the tanh's backward pass
    const Vertex soft = add(softmax, {scored});
    Operator values{.kind = OperatorKind::kMatrix, .role = Role::kValues};
    values.matrix = {model_.heads, model_.sequence, model_.head_width(), model_.sequence};
    values.columns = model_.kv_heads;
    values.flops = values.matrix.flops();
    values.inputs = squares + s() * static_cast<double>(kv);
    values.saved_scores = dropout ? squares : 0.0;
    values.saved_elements = s() * static_cast<double>(kv);
    values.outputs = s() * static_cast<double>(wide);
    values.attended = attended_share(kind.window);
    const Vertex valued = add(values, {soft, qkv});

    const Vertex projection =
        linear(Role::kProjection, traits_.projection_bias, model_.hidden, wide, model_.hidden, model_.kv_heads, valued);
    graph_[projection].second = share_of_second({model_.hidden});
    const Vertex projected = adapted(projection, valued, wide, {{LoraTarget::kOutput, model_.hidden}});
    const Vertex branch = traits_.branch_norm ? norm(Role::kAttentionBranchNorm, projected) : projected;
    const Vertex sum = residual(Role::kAttentionResidual, branch, stream);
    return traits_.norm_behind ? norm(Role::kAttentionNorm, sum) : sum;
  }

  // `from` is its input, `stream` the stream to which its branch is added.
  Vertex mlp(Vertex from, Vertex stream) {
    const std::int64_t width = model_.intermediate, products = traits_.gated ? 2 : 1;
    const double wide = s() * static_cast<double>(width), read = static_cast<double>(products) * wide;
    const bool relu = traits_.activation == Activation::kRelu && !traits_.gated;
    const bool shared = traits_.parallel && traits_.shared_norm;
    const Vertex normed = shared ? attention_input_ : traits_.norm_before ? norm(Role::kMlpNorm, from) : from;
    // Its input is counted with attention's norm, which reads it too.
    if (traits_.parallel && !shared && traits_.norm_before) graph_[normed].saved_elements = 0;
    const Vertex wider =
        linear(Role::kMlpUp, traits_.mlp_bias, products * width, model_.hidden, width, model_.hidden, normed);
    graph_[wider].second = traits_.gated ? share_of_second({width, width}) : share_of_second({width});
    graph_[wider].reads_stream = reads_stream();
    graph_[wider].products = traits_.joint_gate ? 1 : static_cast<int>(products);
    // Counted with queries, keys and values, which keep it for their weights or adapters.
    const bool kept = !model_.lora || has_adapter(LoraTarget::kQuery) || has_adapter(LoraTarget::kKey) ||
                      has_adapter(LoraTarget::kValue);
    if (shared && kept) graph_[wider].saved_elements = 0;
    Vertex up = wider;
    for (std::int64_t i = 0; i < products; ++i) up = adapted(up, normed, model_.hidden, {{LoraTarget::kUp, width}});
    // ReLU's gradient follows from its output, which the next product keeps.
    const Role role = traits_.gated ? Role::kSwiglu : relu ? Role::kRelu : Role::kGelu;
    const Vertex active =
        elementwise(OperatorKind::kActivation, role, read, wide, kActivationFlops, relu ? 0.0 : read, 0.0, width, {up});
    if (traits_.activation == Activation::kGeluNew) graph_[active].gelu = GeluForm::kNew;
    if (traits_.activation == Activation::kQuickGelu) graph_[active].gelu = GeluForm::kQuick;
    const Vertex narrower =
        linear(Role::kMlpDown, traits_.mlp_bias, model_.hidden, width, model_.hidden, width, active);
    graph_[narrower].second = share_of_second({model_.hidden});
    if (relu) graph_[narrower].input_unneeded = false;
    const Vertex down = adapted(narrower, active, width, {{LoraTarget::kDown, model_.hidden}});
    const Vertex branch = traits_.branch_norm ? norm(Role::kMlpBranchNorm, down) : down;
    const Vertex sum = residual(Role::kMlpResidual, branch, stream);
    return traits_.norm_behind ? norm(Role::kMlpNorm, sum) : sum;
  }

  Vertex residual(Role role, Vertex branch, Vertex stream) {
    return elementwise(OperatorKind::kResidual, role, 2 * token_elements(), token_elements(), kResidualFlops, 0.0,
                       mask(model_.dropout, token_elements()), model_.hidden, {branch, stream});
  }

  void head(Vertex stream) {
    const bool token_by_token = model_.classes == 0 || model_.classifies_tokens;
    Vertex last = traits_.norm_behind ? stream : norm(Role::kFinalNorm, stream);
    if (!traits_.causal) last = encoder_head(last, token_by_token);
    const std::int64_t outputs = model_.outputs();
    Operator op{.kind = OperatorKind::kMatrix, .role = Role::kHead};
    op.matrix = {1, rows_, outputs, model_.hidden};
    op.factor_transposed = true;
    op.columns = outputs;
    op.rows = model_.hidden;
    op.tied = model_.tied_embedding && model_.classes == 0;
    // A tied head's bias is counted with the product before it.
    op.bias = model_.head_bias() && !op.tied ? static_cast<double>(outputs) : 0.0;
    op.weights = static_cast<double>(outputs) * h() + op.bias;
    op.input_unneeded = model_.lora.has_value();
    op.parameters = op.tied ? 0.0 : op.weights;
    op.flops = op.matrix.flops();
    op.inputs = op.saved_elements = token_elements();
    op.outputs = static_cast<double>(rows_) * static_cast<double>(outputs);
    const Vertex logits = add(op, {last});
    // A decoder computes each token's classes and uses the last one's.
    if (!token_by_token) rows_ = 1;
    // Logits; further copies of them belong to the software stack.
    const double elements = static_cast<double>(rows_) * static_cast<double>(outputs);
    const Vertex loss =
        elementwise(OperatorKind::kLoss, Role::kLoss, elements, elements, kLossFlops, elements, 0.0, outputs, {logits});
    graph_[loss].casts_logits = traits_.casts_logits && model_.classes == 0;
    graph_[loss].capped = traits_.logit_cap && model_.classes == 0;
    if (graph_[loss].capped) graph_[loss].saved_elements += elements;  // input of the tanh's backward pass
  }

  // An encoder's product before the head, for all tokens, with its norm; or for the sequence's first token.
  Vertex encoder_head(Vertex from, bool token_by_token) {
    if (!token_by_token) rows_ = 1;
    if (model_.classifies_tokens) return from;
    const Vertex dense = linear(Role::kHeadDense, true, model_.hidden, model_.hidden, 0, 0, from);
    if (model_.classes == 0 && model_.tied_embedding && model_.head_bias()) {
      graph_[dense].bias += v();
      graph_[dense].weights += v();
      graph_[dense].parameters += v();
    }
    const Vertex active = elementwise(OperatorKind::kActivation, Role::kGelu, token_elements(), token_elements(),
                                      kActivationFlops, token_elements(), 0.0, 0, {dense});
    return model_.classes == 0 ? norm(Role::kFinalNorm, active) : active;
  }

  // --- adapters

  bool has_adapter(LoraTarget target) const {
    if (!model_.lora) return false;
    const auto& targets = model_.lora->targets;
    return std::ranges::find(targets, target) != targets.end();
  }

  // Adapters beside the product `of`, which reads the output of `from`: one for each target, with its number of
  // outputs.
  Vertex adapted(Vertex of, Vertex from, std::int64_t inputs,
                 std::initializer_list<std::pair<LoraTarget, std::int64_t>> targets) {
    Vertex out = of;
    for (const auto& [target, outputs] : targets) {
      if (!has_adapter(target)) continue;
      const std::int64_t rank = model_.lora->rank;
      const Vertex in = linear(Role::kAdapterIn, false, rank, inputs, rank, inputs, from);
      Operator& first = graph_[in];
      first.dropout = model_.lora->dropout;
      (first.dropout ? first : graph_[of]).input_unneeded = false;  // A's gradient needs it
      first.saved_bytes = mask(first.dropout, first.inputs);
      if (!first.dropout) first.saved_elements = 0;  // counted with the frozen product
      const Vertex beside = linear(Role::kAdapterOut, false, outputs, rank, outputs, rank, in);
      const double wide = s() * static_cast<double>(outputs);
      out = elementwise(OperatorKind::kResidual, Role::kAdapterSum, 2 * wide, wide, kResidualFlops, 0.0, 0.0, outputs,
                        {out, beside});
      graph_[out].dropout = false;
    }
    return out;
  }

  // Freezes all operators except the adapters.
  void freeze() {
    bool trains = false;  // an earlier operator is trained
    for (const auto v : boost::make_iterator_range(boost::vertices(graph_))) {
      Operator& op = graph_[v];
      const bool adapter = op.role == Role::kAdapterIn || op.role == Role::kAdapterOut;
      trains = trains || adapter;
      if (adapter) continue;
      op.parameters = 0;
      op.frozen = op.weights > 0;
      op.unreached = !trains;
      if (!op.unreached) continue;
      // It keeps only an adapter's input.
      op.saved_bytes = op.saved_scores = op.saved_score_bytes = 0;
      if (op.input_unneeded || op.kind != OperatorKind::kMatrix) op.saved_elements = 0;
    }
  }

  const Transformer& model_;
  const Traits& traits_ = model_.traits;
  OperatorGraph& graph_;
  int layer_ = -1;
  int products_ = 0;            // of the layer, so far
  Vertex attention_input_ = 0;  // of the layer
  std::int64_t rows_;           // of the activations: tokens of the sequence, or one for its class
};

}  // namespace

const char* name_of(Role role) {
  constexpr std::array kNames = {
      "embedding",   "embedding norm", "norm 1",        "qkv",           "query norm", "scores",     "softmax",
      "values",      "projection",     "branch norm 1", "residual 1",    "norm 2",     "mlp up",     "gelu",
      "swiglu",      "relu",           "mlp down",      "branch norm 2", "residual 2", "adapter in", "adapter out",
      "adapter sum", "head dense",     "final norm",    "head",          "loss"};
  static_assert(kNames.size() == static_cast<std::size_t>(Role::kLoss) + 1);
  return kNames[static_cast<std::size_t>(role)];
}

int layer_count(const OperatorGraph& graph) { return graph[boost::num_vertices(graph) - 1].layer; }
// Every edge points to a later vertex, so the first vertex begins the stream.
double stream_elements(const OperatorGraph& graph) { return graph[0].outputs; }

OperatorGraph build_operator_graph(const Transformer& model) {
  OperatorGraph graph;  // it cannot be moved
  Builder(model, graph).build();
  return graph;
}

double parameter_count(const OperatorGraph& graph) {
  double sum = 0;
  for (const auto vertex : boost::make_iterator_range(boost::vertices(graph)))
    sum += graph[vertex].is_tied() ? 0.0 : graph[vertex].weights;
  return sum;
}

double trained_count(const OperatorGraph& graph) {
  double sum = 0;
  for (const auto vertex : boost::make_iterator_range(boost::vertices(graph))) sum += graph[vertex].parameters;
  return sum;
}

double tied_parameters(const OperatorGraph& operators) {
  const auto [begin, end] = boost::vertices(operators);
  const auto is = [&](Role role) { return [&operators, role](Vertex v) { return operators[v].role == role; }; };
  const auto head = std::find_if(begin, end, is(Role::kHead));
  const auto embedding = std::find_if(begin, end, is(Role::kEmbedding));
  const bool tied = head != end && embedding != end && operators[*head].is_tied();
  return tied ? operators[*embedding].parameters : 0.0;
}

Flops reported_flops(const Transformer& model, double sequences, bool rematerialisation) {
  const double s = static_cast<double>(model.sequence), h = static_cast<double>(model.hidden);
  const double layers = static_cast<double>(model.layers), v = static_cast<double>(model.outputs());
  const double wide = static_cast<double>(model.query_width()), kv = static_cast<double>(model.kv_width());
  const double factor = rematerialisation ? 96.0 : 72.0;
  // A layer's weights in products and the width of its queries, relative to the formula's layer: 12 h^2 and h.
  const double mlp = (model.traits.gated ? 3.0 : 2.0) * static_cast<double>(model.intermediate);
  const double weights = (2.0 * wide + 2.0 * kv + mlp) * h / (12.0 * h * h), width = wide / h;
  // Rows of the head: tokens, or the first one for an encoder's class; an encoder has a product of h x h more.
  const bool encoder = !model.traits.causal;
  const double rows = encoder && model.classes > 0 && !model.classifies_tokens ? 1.0 : s;
  const double outputs = v + (encoder && !model.classifies_tokens ? h : 0.0);
  return Flops{factor * sequences * s * h * h * layers * (weights + s / (6.0 * h) * width) +
               6.0 * sequences * rows * h * outputs};
}

}  // namespace slmsim
