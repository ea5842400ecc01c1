# lang_ruby.rb: continuations that are entered several times (the machine stack
# is copied away and back), fibers (stacks of their own, freed unfinished),
# enumerators, exceptions and throw through C functions, threads, and a deep
# recursion that runs out of stack. Prints what was counted.

$VERBOSE = nil
require 'continuation'
require 'fiber'

COUNTS = Hash.new(0)
LOCK = Mutex.new

def count(key, number = 1)
  LOCK.synchronize { COUNTS[key] += number }
end

def block(size)
  'x' * (600 + size % 700)
end

# Through C functions that call back, depth times, then yields.
def descend(depth, &action)
  before = block(depth)
  return action.call if depth.zero?

  result = case depth % 5
           when 0 then [1].map { descend(depth - 1, &action) }.first
           when 1 then [2].min_by { descend(depth - 1, &action) }
           when 2 then [1].inject(0) { |_, _| descend(depth - 1, &action) }
           when 3 then Array.new(1) { descend(depth - 1, &action) }.size
           else { 1 => 2 }.each { descend(depth - 1, &action) }.size
           end
  count(:frames)
  count(:bytes, before.size + block(depth + 1).size)
  result
end

def continuations
  [0, 1, 5, 12, 25].each do |depth|
    times = 0
    saved = nil
    descend(depth) { callcc { |k| saved = k }; 1 }
    times += 1
    count(:entered)
    descend(30 - depth) { saved.call } if times < 6 && (COUNTS[:again] += 1) % 6 != 0
  end
  # A generator of two, each entered from the other's depth.
  back = nil
  produced = []
  step = 0
  inner = lambda do
    descend(7) do
      5.times do |n|
        block(n)
        callcc { |k| $resume = k; back.call(n) }
      end
      0
    end
    $resume = nil
    back.call(nil)
  end
  loop do
    got = callcc do |k|
      back = k
      step.zero? ? ((step = 1) && inner.call) : descend(step + 3) { $resume.call }
    end
    break if got.nil?

    step += 1
    produced << got
  end
  COUNTS[:produced] = produced.sum
end

def fibers
  all = (0...60).map do |n|
    Fiber.new do |x|
      10.times { x = descend(n % 12) { Fiber.yield(x.to_i + 1) ; 1 } }
      count(:fiber_ended)
      x
    end
  end
  order = 1
  500.times do
    order = (order * 75 + 74) % 65_537
    fiber = all[order % all.size]
    next unless fiber.alive?

    fiber.resume(order % 7)
    count(:resumed)
  end
  all = nil
  GC.start
  a = b = nil
  main = Fiber.current
  a = Fiber.new { 50.times { |n| descend(n % 6) { b.transfer; 1 } }; main.transfer(:a) }
  b = Fiber.new { loop { descend(4) { a.transfer; 1 } } }
  COUNTS[:transferred] = a.transfer == :a ? 1 : 0
  # Raised into, and made and dropped in numbers.
  20.times do |n|
    fiber = Fiber.new { descend(n) { Fiber.yield; 1 } }
    fiber.resume
    begin
      fiber.raise(IOError, 'inside')
    rescue IOError
      count(:raised_into)
    end
  end
  300.times { |n| Fiber.new { descend(3) { Fiber.yield } }.resume; GC.start if n % 100 == 0 }
end

def enumerators
  tree = Enumerator.new { |y| 50.times { |n| descend(n % 9) { y << n; 1 } } }
  loop { COUNTS[:external] += tree.next }
  pairs = [1, 2, 3].each_entry
  lazy = (1..Float::INFINITY).lazy.map { |x| x * 2 }.select { |x| x % 3 == 0 }
  COUNTS[:lazy] = lazy.first(20).sum
  COUNTS[:pairs] = pairs.next + pairs.next
  left = (0...50).map { Enumerator.new { |y| descend(5) { y << 1; 1 } } }
  left.each(&:next)
end

def exceptions
  (0..200).step(5) do |depth|
    descend(depth) { raise ArgumentError, 'deep' }
  rescue ArgumentError => e
    count(:rescued)
    COUNTS[:backtrace] += e.backtrace.size
  ensure
    count(:ensured)
  end
  40.times do |depth|
    COUNTS[:thrown] += catch(:out) { descend(depth) { throw :out, 2 } }
  end
  100.times { |n| COUNTS[:broken] += [1, 2].each { |x| descend(3) { break } ; break n } }
end

def threads
  values = (0...12).map do |n|
    Thread.new do
      descend(20) { Thread.pass; 1 }
      raise 'in a thread' if n % 4 == 3

      n
    end.tap { |thread| thread.report_on_exception = false }
  end.map do |thread|
    thread.value
  rescue RuntimeError
    count(:thread_raised)
    0
  end
  COUNTS[:threads] = values.sum
  # Killed while it waits at some depth.
  10.times do |n|
    queue = Queue.new
    thread = Thread.new { descend(n) { queue << 1; sleep } }
    queue.pop
    thread.kill
    thread.join
    count(:thread_killed)
  end
end

def endless(n)
  [n].map { |x| endless(x + 1) }.first
end

def overflow
  3.times do
    endless(0)
  rescue SystemStackError
    count(:overflowed)
  end
end

[:continuations, :fibers, :enumerators, :exceptions, :threads, :overflow]
  .each { |step| ARGV.empty? || ARGV.include?(step.to_s) ? send(step) : nil }
COUNTS.sort.each { |key, value| puts "#{key} #{value}" }
