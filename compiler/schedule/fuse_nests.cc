#include "compiler/schedule/fuse_nests.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/lowering/access_pattern.h"
#include "compiler/lowering/rewrite_body.h"
#include "compiler/schedule/fuse_pair.h"
#include "compiler/schedule/nest_graph.h"

namespace stax {
namespace {

// Partners looked at for each buffer a nest reads: those nearest in the program. More would find
// little and make programs with a buffer that everybody reads quadratic.
constexpr int kMaxPartners = 8;

// Bytes two kernels move together below which their launches (2 to 3 us each) cost more than the
// traffic: at 2 TB/s a microsecond moves 2 MB.
constexpr double kLaunchBound = 4 << 20;

// A pair to try, ordered by what it saves, then by how near the two are, then by position.
struct Candidate {
  double saved_bytes;
  int distance, first, second;  // first < second
  int version_first, version_second;
  bool operator<(const Candidate& other) const {  // for a max-heap
    return std::tie(saved_bytes, other.distance, other.first, other.second) <
           std::tie(other.saved_bytes, distance, first, second);
  }
};

class Fuser {
 public:
  explicit Fuser(LoopProgram& program)
      : program_(program), graph_(static_cast<int>(program.nests.size())) {
    for (const PlanBuffer& b : program.buffers)
      if (b.kind == PlanBuffer::Kind::kTemporary) temporaries_.insert(b.name);
    for (size_t k = 0; k < program.nests.size(); ++k) {
      FusedNest group;
      group.nest = std::move(program.nests[k]);
      group.parts = {group.nest.name};
      group.origins = std::move(program.origins[k]);
      groups_.push_back(std::move(group));
      versions_.push_back(0);
      traffic_.emplace_back();
      AddToIndex(static_cast<int>(k));
    }
    program.nests.clear();
    program.origins.clear();
  }

  std::vector<FusedNest> Run() {
    for (int k = 0; k < static_cast<int>(groups_.size()); ++k) Propose(k);
    while (!heap_.empty()) {
      const Candidate c = heap_.top();
      heap_.pop();
      const bool current = graph_.alive(c.first) && graph_.alive(c.second) &&
                           versions_[c.first] == c.version_first &&
                           versions_[c.second] == c.version_second;
      if (current) TryFuse(c.first, c.second);
    }
    return Finish();
  }

 private:
  // Bytes at the hints by buffer: read (or written) by a group.
  using BufferBytes = std::map<std::string, double>;

  void AddToIndex(int k) {
    const LoopNest& nest = groups_[k].nest;
    traffic_[k].clear();
    for (const Access& a : Accesses(nest)) {
      const std::string& buffer = nest.buffers[nest.body[a.op].buffer].name;
      double& bytes = traffic_[k][buffer];
      bytes = std::max(bytes, static_cast<double>(a.elements) * a.element_bytes);
      if (a.store) {
        producer_[buffer] = k;
      } else {
        readers_[buffer].insert(k);
        const auto it = producer_.find(buffer);
        if (it != producer_.end() && it->second != k && versions_[k] == 0)
          graph_.AddEdge(it->second, k);
      }
    }
  }

  void RemoveFromIndex(int k) {
    for (const auto& [buffer, bytes] : traffic_[k]) readers_[buffer].erase(k);
  }

  // All groups that share a buffer with k, near ones only for buffers with many readers.
  std::set<int> Partners(int k) const {
    std::set<int> partners;
    const auto add_readers = [&](const std::string& buffer) {
      const auto it = readers_.find(buffer);
      if (it == readers_.end()) return;
      auto after = it->second.upper_bound(k), before = it->second.lower_bound(k);
      for (int n = 0; n < kMaxPartners && after != it->second.end(); ++n) partners.insert(*after++);
      for (int n = 0; n < kMaxPartners && before != it->second.begin(); ++n)
        partners.insert(*--before);
    };
    for (const auto& [buffer, bytes] : traffic_[k]) {
      add_readers(buffer);
      const auto producer = producer_.find(buffer);
      if (producer == producer_.end() || producer->second == k) continue;
      partners.insert(producer->second);
      // Those that read other results of the same producer.
      for (const auto& [other, unused] : traffic_[producer->second])
        if (producer_.count(other) > 0 && producer_.at(other) == producer->second)
          add_readers(other);
    }
    partners.erase(k);
    return partners;
  }

  // Bytes of traffic that fusing the two would save; 0 when they have nothing in common.
  double SavedBytes(int a, int b) const {
    double saved = 0;
    for (const auto& [buffer, bytes_a] : traffic_[a]) {
      const auto in_b = traffic_[b].find(buffer);
      if (in_b == traffic_[b].end()) continue;
      const auto producer = producer_.find(buffer);
      const bool vertical =
          producer != producer_.end() && (producer->second == a || producer->second == b);
      saved += std::min(bytes_a, in_b->second);
      if (vertical && temporaries_.count(buffer) > 0 && ReadOnlyBy(buffer, a, b))
        saved += producer->second == a ? bytes_a : in_b->second;
    }
    return saved;
  }

  // Two that read what one producer made, and are so small that a launch less is a gain.
  bool SavesLaunch(int a, int b) const {
    double bytes = 0;
    std::set<int> producers;
    bool common = false;
    for (const auto& [buffer, buffer_bytes] : traffic_[a]) {
      bytes += buffer_bytes;
      if (auto it = producer_.find(buffer); it != producer_.end() && it->second != a)
        producers.insert(it->second);
    }
    for (const auto& [buffer, buffer_bytes] : traffic_[b]) {
      bytes += buffer_bytes;
      if (auto it = producer_.find(buffer); it != producer_.end())
        common = common || producers.count(it->second) > 0;
    }
    return common && bytes <= kLaunchBound;
  }

  bool ReadOnlyBy(const std::string& buffer, int a, int b) const {
    const auto it = readers_.find(buffer);
    if (it == readers_.end()) return true;
    return std::all_of(it->second.begin(), it->second.end(),
                       [&](int k) { return k == a || k == b; });
  }

  void Propose(int k) {
    for (int partner : Partners(k)) {
      double saved = SavedBytes(k, partner);
      if (saved <= 0 && SavesLaunch(k, partner)) saved = 1;  // last of all
      if (saved <= 0) continue;
      const int first = std::min(k, partner), second = std::max(k, partner);
      heap_.push({saved, second - first, first, second, versions_[first], versions_[second]});
    }
  }

  void TryFuse(int a, int b) {
    if (!graph_.CanMerge(a, b)) return;
    if (graph_.Reaches(b, a)) std::swap(a, b);
    std::optional<LoopNest> fused = FusePair(groups_[a].nest, groups_[b].nest, SavesLaunch(a, b));
    if (!fused.has_value()) return;
    const int kept = std::min(a, b), gone = std::max(a, b);
    RemoveFromIndex(a);
    RemoveFromIndex(b);
    graph_.Merge(kept, gone);
    FusedNest group = std::move(groups_[a]);
    group.nest = std::move(*fused);
    for (const std::string& part : groups_[b].parts) group.parts.push_back(part);
    for (const std::string& origin : groups_[b].origins) {
      const bool known =
          std::find(group.origins.begin(), group.origins.end(), origin) != group.origins.end();
      if (!known) group.origins.push_back(origin);
    }
    for (const std::string& buffer : groups_[b].kept) group.kept.push_back(buffer);
    DropUnreadStores(group);
    groups_[kept] = std::move(group);
    ++versions_[kept];
    AddToIndex(kept);
    Propose(kept);
    // Readers of what were two producers have one in common now.
    for (const auto& [buffer, bytes] : traffic_[kept]) {
      const auto producer = producer_.find(buffer);
      if (producer == producer_.end() || producer->second != kept) continue;
      const std::set<int>& readers = readers_[buffer];
      if (readers.size() > kMaxPartners) continue;
      for (int reader : readers) Propose(reader);
    }
  }

  // Removes stores of temporaries that no group in the index reads. (The group itself is not in it:
  // what it reads of its own results are values.)
  void DropUnreadStores(FusedNest& group) {
    std::vector<std::string> dropped;
    const auto keep = [&](const LoopOp& store) {
      const std::string& buffer = group.nest.buffers[store.buffer].name;
      if (temporaries_.count(buffer) == 0 || !readers_[buffer].empty()) return true;
      dropped.push_back(buffer);
      return false;
    };
    const std::vector<bool> live = LiveOps(group.nest, keep);
    if (dropped.empty()) return;
    group.nest = KeepOps(group.nest, live);
    group.kept.insert(group.kept.end(), dropped.rbegin(), dropped.rend());
  }

  std::vector<FusedNest> Finish() {
    std::vector<FusedNest> result;
    std::set<std::string> needed;
    const std::vector<int> order = graph_.Order();
    // Lowering stores a value before it knows whether all readers fold it away. Readers first.
    for (auto k = order.rbegin(); k != order.rend(); ++k) {
      RemoveFromIndex(*k);
      DropUnreadStores(groups_[*k]);
      AddToIndex(*k);
    }
    for (int k : order) {
      if (groups_[k].nest.body.empty()) continue;
      for (const NestBuffer& b : groups_[k].nest.buffers) needed.insert(b.name);
      result.push_back(std::move(groups_[k]));
    }
    auto& buffers = program_.buffers;
    buffers.erase(std::remove_if(buffers.begin(), buffers.end(),
                                 [&](const PlanBuffer& b) {
                                   return b.kind == PlanBuffer::Kind::kTemporary &&
                                          needed.count(b.name) == 0;
                                 }),
                  buffers.end());
    return result;
  }

  LoopProgram& program_;
  NestGraph graph_;
  std::set<std::string> temporaries_;
  std::vector<FusedNest> groups_;
  std::vector<int> versions_;
  std::vector<BufferBytes> traffic_;
  std::map<std::string, int> producer_;
  std::map<std::string, std::set<int>> readers_;
  std::priority_queue<Candidate> heap_;
};

}  // namespace

std::vector<FusedNest> FuseNests(LoopProgram& program) { return Fuser(program).Run(); }

}  // namespace stax
