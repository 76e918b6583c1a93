#include "runtime/emulator/translate/control_flow.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stax::emulator {
namespace {

using ptx::Instruction;
using ptx::Operand;

// Longer blocks are cut: translating one takes time that grows faster than its length.
constexpr int kMaxBlockInstructions = 500;

bool IsBranch(const Instruction& i) {
  return i.opcode == "bra" || i.opcode == "brx" || (i.opcode == "ret" && !i.operands.empty());
}
bool EndsThread(const Instruction& i) {
  return i.opcode == "exit" || i.opcode == "trap" || (i.opcode == "ret" && i.operands.empty());
}

// Instructions without a result: all operands are read.
bool HasNoResult(const Instruction& i) {
  static const auto* const names = new std::set<std::string>{
      "st",       "red",           "bra",       "brx",     "exit",      "trap",
      "call",     "ret",           "bar",       "barrier", "fence",     "membar",
      "prefetch", "prefetchu",     "nanosleep", "cp",      "stmatrix",  "griddepcontrol",
      "discard",  "applypriority", "pmevent",   "brkpt",   "setmaxnreg"};
  if (i.opcode == "bar" || i.opcode == "barrier") return !i.Has("red");
  if (i.opcode == "mbarrier") {
    return !(i.Has("arrive") || i.Has("arrive_drop") || i.Has("test_wait") || i.Has("try_wait") ||
             i.Has("pending_count"));
  }
  return names->count(i.opcode) > 0;
}

void AddRegisters(const Operand& operand, std::vector<int>& registers) {
  if (operand.reg >= 0) registers.push_back(operand.reg);
  for (const Operand& element : operand.elements) AddRegisters(element, registers);
}

// An address in the first place is where something is stored: its register is read.
bool HasResult(const Instruction& instruction) {
  return !instruction.operands.empty() && !HasNoResult(instruction) &&
         instruction.operands[0].kind != Operand::Kind::kAddress;
}

std::vector<int> FindLeaders(const FlatKernel& kernel) {
  const int size = static_cast<int>(kernel.instructions.size());
  std::set<int> leaders = {0, size};
  for (int i = 0; i < size; ++i) {
    const Instruction& instruction = kernel.instructions[i];
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::Kind::kLabel) leaders.insert(static_cast<int>(operand.integer));
      for (const Operand& element : operand.elements) {
        if (element.kind == Operand::Kind::kLabel)
          leaders.insert(static_cast<int>(element.integer));
      }
    }
    if (IsBranch(instruction) || EndsThread(instruction) || IsBarrier(instruction))
      leaders.insert(i + 1);
    if (IsConvergent(instruction)) leaders.insert(i);
  }
  std::vector<int> all;
  for (int leader : leaders) {
    while (!all.empty() && leader - all.back() > kMaxBlockInstructions)
      all.push_back(all.back() + kMaxBlockInstructions);
    all.push_back(leader);
  }
  return all;
}

// In terms of positions of leaders.
std::vector<int> FindSuccessors(const FlatKernel& kernel, int begin, int end, int exit) {
  std::vector<int> successors;
  bool falls_through = true;
  if (begin < end) {
    const Instruction& last = kernel.instructions[end - 1];
    if (IsBranch(last)) {
      for (const Operand& operand : last.operands) {
        if (operand.kind == Operand::Kind::kLabel)
          successors.push_back(static_cast<int>(operand.integer));
        for (const Operand& element : operand.elements) {
          if (element.kind == Operand::Kind::kLabel)
            successors.push_back(static_cast<int>(element.integer));
        }
      }
      falls_through = last.guard >= 0;
    } else if (EndsThread(last)) {
      successors.push_back(exit);
      falls_through = last.guard >= 0;
    }
  }
  if (falls_through && end > begin) successors.push_back(end);
  std::sort(successors.begin(), successors.end());
  successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
  return successors;
}

// Orders blocks: strongly connected components topologically, and each of them, a loop, in the same
// way without its first block, to which it goes back. So a loop's blocks stand together, what
// follows it comes after it, and a join after the paths that lead to it.
class Order {
 public:
  explicit Order(const std::vector<std::vector<int>>& successors) : successors_(successors) {}

  std::vector<int> Find() {
    std::vector<int> order;
    std::vector<bool> inside(successors_.size(), true);
    std::vector<std::vector<int>> pending = ComponentsFrom({0}, inside);
    while (!pending.empty()) {
      const std::vector<int> component = std::move(pending.back());
      pending.pop_back();
      if (component.size() == 1) {
        order.push_back(component.front());
        continue;
      }
      const int header = HeaderOf(component, order);
      order.push_back(header);
      std::fill(inside.begin(), inside.end(), false);
      for (int block : component) inside[block] = block != header;
      // Reverse topological: the first to be ordered comes last, which is where `pending` takes
      // from.
      for (std::vector<int>& inner : ComponentsFrom(successors_[header], inside))
        pending.push_back(std::move(inner));
    }
    return order;
  }

 private:
  // The block of a component through which it is entered: the entry, or one that an ordered block
  // leads to. In a loop with several entries the first of them.
  int HeaderOf(const std::vector<int>& component, const std::vector<int>& before) const {
    std::vector<bool> in(successors_.size(), false);
    for (int block : component) in[block] = true;
    if (in[0]) return 0;
    for (int block : before) {
      for (int next : successors_[block]) {
        if (in[next]) return next;
      }
    }
    return *std::min_element(component.begin(), component.end());
  }

  // Tarjan's algorithm, without recursion: components in reverse topological order.
  std::vector<std::vector<int>> ComponentsFrom(const std::vector<int>& roots,
                                               const std::vector<bool>& inside) {
    struct Frame {
      int block;
      size_t next;
    };
    std::vector<int> index(successors_.size(), -1);
    std::vector<int> low(successors_.size(), 0);
    std::vector<bool> on_stack(successors_.size(), false);
    std::vector<int> stack;
    std::vector<std::vector<int>> components;
    int counter = 0;
    for (int root : roots) {
      if (!inside[root] || index[root] >= 0) continue;
      std::vector<Frame> frames = {{root, 0}};
      while (!frames.empty()) {
        Frame& frame = frames.back();
        const int block = frame.block;
        if (frame.next == 0 && index[block] < 0) {
          index[block] = low[block] = counter++;
          stack.push_back(block);
          on_stack[block] = true;
        }
        bool descended = false;
        while (frame.next < successors_[block].size()) {
          const int next = successors_[block][frame.next++];
          if (!inside[next]) continue;
          if (index[next] < 0) {
            frames.push_back({next, 0});
            descended = true;
            break;
          }
          if (on_stack[next]) low[block] = std::min(low[block], index[next]);
        }
        if (descended) continue;
        if (low[block] == index[block]) {
          std::vector<int> component;
          int member = -1;
          do {
            member = stack.back();
            stack.pop_back();
            on_stack[member] = false;
            component.push_back(member);
          } while (member != block);
          components.push_back(std::move(component));
        }
        frames.pop_back();
        if (!frames.empty())
          low[frames.back().block] = std::min(low[frames.back().block], low[block]);
      }
    }
    return components;
  }

  const std::vector<std::vector<int>>& successors_;
};

// What the blocks do to each register.
struct RegisterUses {
  std::vector<int> read_first;  // blocks that read it before they write it
  std::vector<int> written;     // blocks that write it in all lanes
};

std::vector<RegisterUses> FindRegisterUses(const FlatKernel& kernel,
                                           const std::vector<BasicBlock>& blocks) {
  std::vector<RegisterUses> uses(kernel.registers.size());
  auto add = [](std::vector<int>& list, int block) {
    if (list.empty() || list.back() != block) list.push_back(block);
  };
  std::vector<int> read;
  std::vector<int> written;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const int block = static_cast<int>(b);
    for (int i = blocks[b].begin; i < blocks[b].end; ++i) {
      const Instruction& instruction = kernel.instructions[i];
      read.clear();
      written.clear();
      RegistersRead(instruction, read);
      RegistersWritten(instruction, written);
      // A guarded write leaves the old value in some lanes.
      if (instruction.guard >= 0) read.insert(read.end(), written.begin(), written.end());
      for (int reg : read) {
        const std::vector<int>& before = uses[reg].written;
        if (before.empty() || before.back() != block) add(uses[reg].read_first, block);
      }
      if (instruction.guard >= 0) continue;
      for (int reg : written) add(uses[reg].written, block);
    }
  }
  return uses;
}

// Register by register, backward from the blocks that read it: as much work as there is liveness.
void FindLiveness(const FlatKernel& kernel, std::vector<BasicBlock>& blocks) {
  std::vector<std::vector<int>> predecessors(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (int next : blocks[b].successors) predecessors[next].push_back(static_cast<int>(b));
  }
  const std::vector<RegisterUses> uses = FindRegisterUses(kernel, blocks);
  // By block: the last register that was found live behind it, or that it writes.
  std::vector<int> live(blocks.size(), -1);
  std::vector<int> writes(blocks.size(), -1);
  for (int reg = 0; reg < static_cast<int>(uses.size()); ++reg) {
    for (int block : uses[reg].written) writes[block] = reg;
    std::vector<int> live_in = uses[reg].read_first;
    while (!live_in.empty()) {
      const int block = live_in.back();
      live_in.pop_back();
      for (int before : predecessors[block]) {
        if (live[before] == reg) continue;
        live[before] = reg;
        blocks[before].live_out.push_back(reg);
        if (writes[before] != reg) live_in.push_back(before);
      }
    }
  }
}

}  // namespace

void RegistersRead(const Instruction& instruction, std::vector<int>& registers) {
  if (instruction.guard >= 0) registers.push_back(instruction.guard);
  for (size_t o = 0; o < instruction.operands.size(); ++o) {
    const Operand& operand = instruction.operands[o];
    if (o == 0 && HasResult(instruction)) continue;
    AddRegisters(operand, registers);
  }
}

void RegistersWritten(const Instruction& instruction, std::vector<int>& registers) {
  if (!HasResult(instruction)) return;
  AddRegisters(instruction.operands[0], registers);
}

ControlFlow FindControlFlow(const FlatKernel& kernel) {
  const std::vector<int> leaders = FindLeaders(kernel);
  const int size = static_cast<int>(kernel.instructions.size());
  std::vector<int> raw_of(size + 1, -1);
  for (size_t i = 0; i < leaders.size(); ++i) raw_of[leaders[i]] = static_cast<int>(i);
  std::vector<BasicBlock> raw(leaders.size());
  std::vector<std::vector<int>> successors(leaders.size());
  for (size_t i = 0; i < leaders.size(); ++i) {
    raw[i].begin = leaders[i];
    raw[i].end = i + 1 < leaders.size() ? leaders[i + 1] : size;
    for (int next : FindSuccessors(kernel, raw[i].begin, raw[i].end, size))
      successors[i].push_back(raw_of[next]);
  }
  std::vector<int> order = Order(successors).Find();
  const int exit = static_cast<int>(leaders.size()) - 1;
  // The end comes last, also when nothing leads there; what cannot be reached is left out.
  order.erase(std::remove(order.begin(), order.end(), exit), order.end());
  order.push_back(exit);
  std::vector<int> number(leaders.size(), -1);
  for (size_t n = 0; n < order.size(); ++n) number[order[n]] = static_cast<int>(n);
  ControlFlow flow;
  flow.block_of.assign(size + 1, -1);
  for (int block : order) {
    BasicBlock numbered = raw[block];
    for (int next : successors[block]) numbered.successors.push_back(number[next]);
    flow.block_of[numbered.begin] = number[block];
    flow.blocks.push_back(std::move(numbered));
  }
  FindLiveness(kernel, flow.blocks);
  return flow;
}

}  // namespace stax::emulator
