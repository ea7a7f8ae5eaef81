package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podverdict/podverdict/runtime"
)

const (
	failJob   = batchv1.PodFailurePolicyActionFailJob
	failIndex = batchv1.PodFailurePolicyActionFailIndex
	ignore    = batchv1.PodFailurePolicyActionIgnore
	count     = batchv1.PodFailurePolicyActionCount
)

// TestVerdictJSON checks the exact JSON contract: names, their order, and which of them are absent.
func TestVerdictJSON(t *testing.T) {
	pod := namedPod("default", "p")
	named := runtime.MatchedExitCode(pod, 3, count, container("main", 7))
	named.RuleName = "out-of-memory"
	custom := runtime.Join([]*runtime.Policy{customPolicy(t, "gpu", outOfMemory())}, nil, nil).
		Judge(t.Context(), runtime.Input{Pod: oomKilled(), Attempt: 4})
	broken := custom
	broken.MessageErr = context.Canceled
	for name, c := range map[string]struct {
		verdict runtime.Verdict
		want    string
	}{
		"exit code": {
			runtime.MatchedExitCode(pod, 0, failJob, container("main", 42)),
			`{"terminal":true,"matched":true,"action":"FailJob","counted":true,"rule":0,"container":"main","exitCode":42,` +
				`"message":"Container main for pod default/p failed with exit code 42 matching FailJob rule at index 0"}`,
		},
		"negative exit code": {
			runtime.MatchedExitCode(pod, 1, failIndex, container("main", -1073741819)),
			`{"terminal":true,"matched":true,"action":"FailIndex","counted":true,"rule":1,"container":"main","exitCode":-1073741819,` +
				`"message":"Container main for pod default/p failed with exit code -1073741819 matching FailIndex rule at index 1"}`,
		},
		"empty container name": {
			runtime.MatchedExitCode(pod, 0, count, container("", 1)),
			`{"terminal":true,"matched":true,"action":"Count","counted":true,"rule":0,"container":"","exitCode":1,` +
				`"message":"Container  for pod default/p failed with exit code 1 matching Count rule at index 0"}`,
		},
		"condition, ignored": {
			runtime.MatchedCondition(pod, 12, ignore, &corev1.PodCondition{Type: corev1.DisruptionTarget}),
			`{"terminal":true,"matched":true,"action":"Ignore","counted":false,"rule":12,"condition":"DisruptionTarget",` +
				`"message":"Pod default/p has condition DisruptionTarget matching Ignore rule at index 12"}`,
		},
		"named rule": {
			named,
			`{"terminal":true,"matched":true,"action":"Count","counted":true,"rule":3,"ruleName":"out-of-memory","container":"main","exitCode":7,` +
				`"message":"Container main for pod default/p failed with exit code 7 matching Count rule at index 3"}`,
		},
		"unmatched":    {runtime.Unmatched(pod), `{"terminal":true,"matched":false,"action":"Count","counted":true}`},
		"not terminal": {runtime.NotTerminal(pod), `{"terminal":false,"matched":false,"counted":false}`},
		"failure": {
			runtime.Failure(pod, errors.New("rules[0]: \"no\"")),
			`{"terminal":true,"matched":false,"action":"Count","counted":true,"error":"rules[0]: \"no\""}`,
		},
		"escapes": {
			runtime.MatchedExitCode(namedPod("<&>", "größe"), 0, failJob, container("\"\\\n\x01\u2028", 1)),
			`{"terminal":true,"matched":true,"action":"FailJob","counted":true,"rule":0,"container":"\"\\\n\u0001\u2028","exitCode":1,` +
				`"message":"Container \"\\\n\u0001\u2028 for pod \u003c\u0026\u003e/größe failed with exit code 1 matching FailJob rule at index 0"}`,
		},
		"custom rule, within its budget": {custom, `{"terminal":true,"matched":true,"action":"Ignore","counted":false,"rule":0,"policy":"gpu",` +
			`"ruleName":"oom","reason":"OutOfMemory","budget":{"limit":3,"per":"Index","then":"FailIndex"},"retryDelay":"1m30s",` +
			`"message":"Pod default/p matching Ignore rule oom of PodFailurePolicy gpu: OutOfMemory: attempt 4"}`},
		"custom rule, used up": {custom.UsedUp(), `{"terminal":true,"matched":true,"action":"FailIndex","counted":true,"rule":0,"policy":"gpu",` +
			`"ruleName":"oom","reason":"OutOfMemory","budget":{"limit":3,"per":"Index","then":"FailIndex","usedUp":true},"retryDelay":"1m30s",` +
			`"message":"Pod default/p matching FailIndex rule oom of PodFailurePolicy gpu after its budget of 3 per Index: OutOfMemory: attempt 4"}`},
		"custom rule, without its message": {broken, `{"terminal":true,"matched":true,"action":"Ignore","counted":false,"rule":0,"policy":"gpu",` +
			`"ruleName":"oom","reason":"OutOfMemory","budget":{"limit":3,"per":"Index","then":"FailIndex"},"retryDelay":"1m30s",` +
			`"message":"Pod default/p matching Ignore rule oom of PodFailurePolicy gpu: OutOfMemory: attempt 4","messageError":"context canceled"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := marshal(t, c.verdict); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := unmarshal(t, c.want); !got.Equal(c.verdict) {
				t.Errorf("read back as %+v, not as %+v", got, c.verdict)
			}
		})
	}
}

func TestUnmarshalVerdictRefusesOtherTypes(t *testing.T) {
	for _, text := range []string{`[]`, `"FailJob"`, `{"rule":"0"}`, `{"exitCode":2147483648}`, `{"terminal":1}`, `{`} {
		var v runtime.Verdict
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s: no error, but %+v", text, v)
		}
	}
}

func TestVerdictRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawn(t, rapid.String()).verdict()
		text := marshal(t, v)
		back := unmarshal(t, text)
		if !back.Equal(v) || !v.Equal(back) || back.Message() != v.Message() {
			t.Errorf("%s\nread back as %+v", text, back)
		}
		if again := marshal(t, back); again != text {
			t.Errorf("written again:\n%s\n%s", text, again)
		}
	})
}

// TestEqualIsEqualityOfJSON compares verdicts that differ in at most one thing. The words are
// chosen so that two pods may have the same message.
func TestEqualIsEqualityOfJSON(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "a/b", "b"})
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			one := drawn(t, words)
			other := one.with(drawn(t, words), rapid.IntRange(0, 8).Draw(t, "field"))
			v, w := one.verdict(), other.verdict()
			vText, wText := marshal(t, v), marshal(t, w)
			if rapid.Bool().Draw(t, "v is read") {
				v = unmarshal(t, vText)
			}
			if rapid.Bool().Draw(t, "w is read") {
				w = unmarshal(t, wText)
			}
			if got := v.Equal(w); got != (vText == wText) {
				t.Errorf("Equal is %t of\n%s\n%s", got, vText, wText)
			}
			seen[vText == wText]++
		}
	})
	if least := draws(100, 20); seen[true] < least || seen[false] < least {
		t.Errorf("too few of a kind: %v", seen)
	}
}

// choice holds the components of a verdict.
type choice struct {
	kind, rule     int
	code           int32
	action         batchv1.PodFailurePolicyAction
	namespace, pod string
	subject        string // container, condition type or error
	ruleName       string
}

func drawn(t *rapid.T, words *rapid.Generator[string]) choice {
	return choice{
		kind:      rapid.IntRange(0, 4).Draw(t, "kind"),
		rule:      rapid.IntRange(0, 2).Draw(t, "rule"),
		code:      rapid.OneOf(rapid.Int32Range(1, 3), rapid.Int32Range(-1<<31, -1)).Draw(t, "code"),
		action:    rapid.SampledFrom([]batchv1.PodFailurePolicyAction{failJob, failIndex, ignore, count}).Draw(t, "action"),
		namespace: words.Draw(t, "namespace"),
		pod:       words.Draw(t, "pod"),
		subject:   words.Draw(t, "subject"),
		ruleName:  rapid.OneOf(rapid.Just(""), words).Draw(t, "rule name"),
	}
}

// with returns the choice with one field of another one, or unchanged.
func (c choice) with(other choice, field int) choice {
	switch field {
	case 0:
		c.kind = other.kind
	case 1:
		c.rule = other.rule
	case 2:
		c.code = other.code
	case 3:
		c.action = other.action
	case 4:
		c.namespace = other.namespace
	case 5:
		c.pod = other.pod
	case 6:
		c.subject = other.subject
	case 7:
		c.ruleName = other.ruleName
	}
	return c
}

func (c choice) verdict() runtime.Verdict {
	pod := namedPod(c.namespace, c.pod)
	switch c.kind {
	case 0:
		return runtime.NotTerminal(pod)
	case 1:
		return runtime.Unmatched(pod)
	case 2:
		return runtime.Failure(pod, errors.New("rules[0]: "+c.subject))
	case 3:
		return runtime.MatchedCondition(pod, c.rule, c.action, &corev1.PodCondition{Type: corev1.PodConditionType(c.subject)})
	default:
		v := runtime.MatchedExitCode(pod, c.rule, c.action, container(c.subject, c.code))
		v.RuleName = c.ruleName
		return v
	}
}

func namedPod(namespace, name string) *corev1.Pod {
	pod := failedPod()
	pod.Namespace, pod.Name = namespace, name
	return pod
}

func container(name string, code int32) *corev1.ContainerStatus {
	return &corev1.ContainerStatus{
		Name:  name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
	}
}

// failer is the common interface of testing.TB and rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func marshal(t failer, v runtime.Verdict) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// unmarshal decodes a verdict into an existing one, whose contents must be overwritten completely.
func unmarshal(t failer, text string) runtime.Verdict {
	t.Helper()
	v := runtime.MatchedExitCode(namedPod("other", "q"), 4, ignore, container("before", 42))
	v.Policy, v.RuleName, v.Reason, v.Budget.Limit = "before", "before", "before", 9
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
