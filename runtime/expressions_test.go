package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer generates well-typed expressions of the language. The fast path supports most of them.
type writer struct {
	*rand.Rand

	// containers are the enclosing loop variables that are containers.
	containers []string
	pending    bool
	// bools, ints, texts and lists are names of variables of type bool, int, string and list of
	// containers.
	bools, ints, texts, lists []string
}

func (w *writer) bool(depth int) string {
	if depth <= 0 {
		return w.test()
	}
	switch w.IntN(12) {
	case 0, 1:
		return "(" + w.bool(depth-1) + " && " + w.bool(depth-1) + ")"
	case 2, 3:
		return "(" + w.bool(depth-1) + " || " + w.bool(depth-1) + ")"
	case 4:
		return "!(" + w.bool(depth-1) + ")"
	case 5:
		return "(" + w.bool(depth-1) + " ? " + w.bool(depth-1) + " : " + w.bool(depth-1) + ")"
	case 6, 7, 8:
		if len(w.containers) < 2 {
			return w.quantifier(depth)
		}
		return w.test()
	case 9:
		return "((" + w.bool(depth-1) + ")" + pick(w.Rand, []string{" == ", " != "}) + "(" + w.bool(depth-1) + "))"
	default:
		return w.test()
	}
}

func (w *writer) quantifier(depth int) string {
	list := w.list(depth)
	name := pick(w.Rand, []string{"c", "d", "e"})
	w.containers = append(w.containers, name)
	body := w.bool(depth - 1)
	w.containers = w.containers[:len(w.containers)-1]
	return fmt.Sprintf("%s.%s(%s, %s)", list, pick(w.Rand, []string{"exists", "exists", "all", "exists_one"}), name, body)
}

func (w *writer) list(depth int) string {
	if len(w.lists) > 0 && w.IntN(4) == 0 {
		return pick(w.Rand, w.lists)
	}
	list := pick(w.Rand, []string{"pod.containers()", "pod.failedContainers()"})
	if depth > 0 && w.IntN(4) == 0 {
		name := pick(w.Rand, []string{"c", "f"})
		w.containers = append(w.containers, name)
		list += fmt.Sprintf(".filter(%s, %s)", name, w.bool(depth-1))
		w.containers = w.containers[:len(w.containers)-1]
	}
	return list
}

// test returns a bool expression that contains no other bool expression.
func (w *writer) test() string {
	switch w.IntN(14) {
	case 0:
		return pick(w.Rand, []string{"true", "false"})
	case 1, 2:
		return w.int() + pick(w.Rand, []string{" == ", " != ", " < ", " <= ", " > ", " >= "}) + w.int()
	case 3, 4:
		return w.text() + pick(w.Rand, []string{" == ", " != ", " < ", " >= "}) + w.text()
	case 5:
		return w.int() + " in [" + w.joined(func() string { return fmt.Sprint(pick(w.Rand, []int{0, 1, 2, 42, 137, 300})) }) + "]"
	case 6:
		return w.text() + " in [" + w.joined(w.literal) + "]"
	case 7:
		return w.int() + ".between(" + w.int() + ", " + w.int() + ")"
	case 8:
		return pick(w.Rand, []string{"pod.neverStarted()", "pod.unschedulable()", "pod.hasCondition('DisruptionTarget')", "pod.condition('PodScheduled').found"})
	case 9:
		return w.text() + "." + pick(w.Rand, []string{"startsWith", "endsWith", "contains", "matches"}) + "('" + pick(w.Rand, []string{"", "O", "main", "r", "719"}) + "')"
	case 10:
		return w.literal() + " in pod.waitingReasons()"
	case 11:
		if len(w.containers) > 0 {
			return pick(w.Rand, w.containers) + ".oomKilled"
		}
		if len(w.bools) > 0 {
			return pick(w.Rand, w.bools)
		}
		return w.fields()
	case 12:
		if w.pending {
			return "pod.pendingFor(now)" + pick(w.Rand, []string{" > ", " <= "}) + "duration('10m')"
		}
		return w.fields()
	default:
		return w.fields()
	}
}

// fields returns a test of a field. Some of the fields are absent, and some are not supported by
// the fast path.
func (w *writer) fields() string {
	return pick(w.Rand, []string{
		"has(pod.status.reason)", "has(pod.metadata.labels)", "has(pod.metadata.labels.team)", "has(job.spec.backoffLimit)",
		"pod.status.reason == 'Evicted'", "pod.status.?reason.orValue('') == 'Evicted'", "pod.status.?reason.hasValue()",
		"pod.metadata.labels['team'] == 'training'", "pod.metadata.labels.team != 'web'", "'team' in job.metadata.labels",
		"job.metadata.?labels[?'team'].orValue('none') == 'web'", "job.metadata.?labels.?team.hasValue()",
		"pod.metadata.?labels.team.orValue('') == 'web'", "job.spec.backoffLimit > attempt", "job.spec.?backoffLimit.orValue(6) >= 6",
		"job.spec.suspend", "job.spec.?suspend.orValue(true)", "has(pod.spec.securityContext.runAsUser)", "pod.kind == 'Pod'",
		"pod.spec.hostNetwork", "has(job.status.startTime)",
		"pod.status.containerStatuses.exists(c, has(c.state.terminated) && c.state.terminated.exitCode == 137)",
		"size(pod.status.?conditions.orValue([])) > 1", "pod.containers().map(c, c.name) == ['main']",
		"pod.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')", "pod.containers()[0] == pod.containers()[1]",
		"pod.containers().exists(attempt, attempt.exitCode == 137)", "pod.containers().exists(pod, pod.name == 'main')",
		"[1, 2].exists(attempt, attempt == 2)", "[job].exists(pod, has(pod.spec.backoffLimit))", "pod.containers().exists(c, has(c.name))",
		"pod.containers().exists(c, dyn(c).name == 'main' && has(dyn(c).state))", "dyn(pod.condition('PodScheduled')).found", "dyn(pod).failedContainers().size() > 0",
		"pod.containers().exists(c, dyn(c).nope)", "type(pod.containers()[0]) == podverdict.Container", "pod.condition('PodScheduled') == dyn(pod)",
		"pod.containers().map(c, c).exists(c, c.oomKilled)", "pod.containers().map(c, c.oomKilled, c.name).size() > 0", "pod.containers().exists(i, c, i > 0 && c.exitCode > 0)",
		"job.spec.completionMode in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'Indexed']", "pod.metadata.name in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'p']",
		"pod.metadata.name in [pod.metadata.namespace, 'p']", "1 in [attempt, 2]", "duration('1h') > duration('59m')",
		"pod.?spec.hostNetwork.orValue(true)", "job.?spec.parallelism.orValue(attempt) == attempt", "pod.metadata.?labels[?pod.metadata.name].hasValue()",
		"pod.metadata.labels[pod.status.?reason.orValue('team')] == 'web'", "pod.status.?reason.orValue(pod.metadata.labels.team) == 'web'",
		"'team' in pod.metadata.?labels.orValue({})", "pod.metadata.name.startsWith(job.metadata.labels.team)", "pod.metadata.?name.orValue('x').size() == 1",
		"pod.condition('PodScheduled') == pod.condition('None')", "job.metadata.labels == pod.metadata.labels", "pod.status == pod.status",
		"attempts.exists(a, a.oomKilled)", "attempts.size() > 1", "attempts[0].node == 'node-1'", "attempts[?0].?rule.orValue('') == 'a'",
		"attempts.exists(a, a.finishTime > pod.metadata.creationTimestamp)", "job.failedIndexCount() > 1", "attempt > job.failedIndexCount()",
	})
}

func (w *writer) int() string {
	switch w.IntN(8) {
	case 7:
		return "(" + w.test() + " ? attempt : " + fmt.Sprint(pick(w.Rand, []int{0, 137})) + ")"
	case 0:
		return fmt.Sprint(pick(w.Rand, []int{-1, 0, 1, 2, 42, 137}))
	case 1:
		return "attempt"
	case 2:
		return w.list(0) + ".size()"
	case 3:
		if len(w.ints) > 0 {
			return pick(w.Rand, w.ints)
		}
		return "size(" + w.list(0) + ")"
	case 4:
		return "job.status.?failed.orValue(0)"
	default:
		return w.container() + "." + pick(w.Rand, []string{"exitCode", "exitCode", "signal", "restarts"})
	}
}

func (w *writer) text() string {
	switch w.IntN(9) {
	case 8:
		return "(" + w.test() + " ? " + w.literal() + " : pod.metadata.name)"
	case 0:
		return w.literal()
	case 1:
		return "pod.condition('" + pick(w.Rand, []string{"DisruptionTarget", "PodScheduled"}) + "')." + pick(w.Rand, []string{"status", "reason", "message"})
	case 2:
		if len(w.texts) > 0 {
			return pick(w.Rand, w.texts)
		}
		return "pod.status.?reason.orValue('none')"
	case 3:
		return "(" + w.container() + ".name + string(attempt))"
	default:
		return w.container() + "." + pick(w.Rand, []string{"name", "kind", "state", "reason", "message", "signalName", "image"})
	}
}

func (w *writer) container() string {
	if len(w.containers) > 0 && w.IntN(4) > 0 {
		return pick(w.Rand, w.containers)
	}
	return fmt.Sprintf("%s[%d]", w.list(0), w.IntN(2))
}

func (w *writer) literal() string {
	return "'" + pick(w.Rand, []string{"", "main", "proxy", "OOMKilled", "terminated", "sidecar", "SIGKILL", "True", "ImagePullBackOff"}) + "'"
}

func (w *writer) joined(one func() string) string {
	list := make([]string, w.IntN(4))
	for i := range list {
		list[i] = one()
	}
	return strings.Join(list, ", ")
}
