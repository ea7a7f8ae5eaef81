package suite

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/kube/scenarios"
)

// words are the numbers, texts and durations in rules. Pods in which they appear are worth a try.
type words struct {
	numbers   []int64
	texts     []string
	durations []time.Duration
}

var (
	numberWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{1,5}\b`) })
	textWord   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'([^'\\]{1,200})'|"([^"\\]{1,200})"`) })
)

// usualCodes are exit codes that shells and signals give, besides those of scenarios.
var usualCodes = []int64{2, 126, 127, 130, 134, 135, 136, 139, 255}

// maxWords bounds the words of a kind, because all are tried with each other.
const maxWords = 64

func (s *Suite) words() *words {
	w := &words{}
	for _, p := range s.rulebook.policies {
		for _, x := range p.Compiled.Expressions() {
			w.read(x.Text)
		}
	}
	if own := s.base.policy; own != nil {
		for _, r := range own.Rules {
			if r.OnExitCodes != nil {
				for _, code := range r.OnExitCodes.Values {
					w.number(int64(code))
				}
			}
			for _, condition := range r.OnPodConditions {
				w.text(string(condition.Type))
			}
		}
	}
	return w
}

func (w *words) read(expression string) {
	for _, found := range textWord().FindAllStringSubmatch(expression, -1) {
		text := found[1] + found[2]
		if d, err := time.ParseDuration(text); err == nil {
			w.durations = append(w.durations, d)
			continue
		}
		w.text(text)
	}
	for _, found := range numberWord().FindAllString(expression, -1) {
		if n, err := strconv.ParseInt(found, 10, 64); err == nil {
			w.number(n)
		}
	}
}

func (w *words) text(text string) {
	if !slices.Contains(w.texts, text) && len(w.texts) < maxWords {
		w.texts = append(w.texts, text)
	}
}

// number adds a number and its neighbours, for which comparisons may have another result.
func (w *words) number(n int64) {
	for _, n := range []int64{n, n + 1, n - 1} {
		if !slices.Contains(w.numbers, n) && len(w.numbers) < maxWords {
			w.numbers = append(w.numbers, n)
		}
	}
}

// candidates returns the Pods to try, the plainest first: the suite's own Pods, what is built in, exit codes, and what rules name.
func (s *Suite) candidates() []candidate {
	w := s.words()
	var all []candidate
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		all = append(all, s.moments(name, w)...)
	}
	for _, name := range scenarios.Names() {
		all = append(all, s.moments(name, w)...)
	}
	for _, n := range w.numbers {
		all = append(all, s.restarts(n, w)...)
	}
	for _, n := range append(slices.Clone(w.numbers), usualCodes...) {
		if n > 0 && n < 256 {
			all = append(all, s.exitCodes(int32(n), w)...)
		}
	}
	for _, text := range w.texts {
		all = append(all, s.about(text, w)...)
	}
	return all
}

// moments returns a scenario at each attempt and each time that rules may ask for.
func (s *Suite) moments(from string, w *words) []candidate {
	return w.moments(candidate{written: caseDocument{scenario: scenario{From: from}}}, s.scenarios[from])
}

func (w *words) moments(c candidate, pod *corev1.Pod) []candidate {
	all := []candidate{c}
	if pod != nil && v1alpha1.Lives(v1alpha1.PhaseOf(pod)) {
		for _, d := range append(slices.Clone(w.durations), time.Hour, 24*time.Hour) {
			later := c
			later.written.setAge(v1alpha1.PhaseOf(pod), &metav1.Duration{Duration: d + 2*time.Minute})
			all = append(all, later)
		}
		return all
	}
	for _, n := range w.numbers {
		if n > 1 {
			later := c
			later.written.Attempt = new(n)
			all = append(all, later)
		}
	}
	return all
}

// setAge says how long the Pod has been in its phase.
func (c *caseDocument) setAge(phase corev1.PodPhase, age *metav1.Duration) {
	switch phase {
	case corev1.PodPending:
		c.PendingFor = age
	case corev1.PodRunning:
		c.RunningFor = age
	default:
		c.TerminatingFor = age
	}
}

// exitCodes returns candidates in which one container exits with a code.
func (s *Suite) exitCodes(code int32, w *words) []candidate {
	all := w.moments(candidate{written: caseDocument{scenario: scenario{ExitCode: new(code)}}}, nil)
	for _, c := range s.base.job.Spec.Template.Spec.Containers[1:] {
		all = append(all, candidate{written: caseDocument{scenario: scenario{
			ExitCode: new(int32(0)), Containers: map[string]containerEnds{c.Name: {ExitCode: new(code)}},
		}}})
	}
	for _, c := range s.base.job.Spec.Template.Spec.InitContainers {
		all = append(all, candidate{written: caseDocument{scenario: scenario{
			From: "init-container-failed", Containers: map[string]containerEnds{c.Name: {ExitCode: new(code)}},
		}}})
	}
	return all
}

// restarts returns candidates in which the first container has restarted so often.
func (s *Suite) restarts(times int64, w *words) []candidate {
	if times <= 0 || !s.base.selection.HasRulesOn(corev1.PodRunning) {
		return nil
	}
	first := map[string]any{"name": s.base.job.Spec.Template.Spec.Containers[0].Name, "restartCount": times}
	c := candidate{pod: map[string]any{"status": map[string]any{"containerStatuses": []any{first}}}}
	c.written.From = "restarted"
	return w.moments(c, s.scenarios[c.written.From])
}

// about returns candidates in which a text appears: as a reason, a message or a condition.
func (s *Suite) about(text string, w *words) []candidate {
	first := s.base.job.Spec.Template.Spec.Containers[0].Name
	pod := func(status map[string]any) candidate { return candidate{pod: map[string]any{"status": status}} }
	containers := func(from string, e containerEnds) candidate {
		return candidate{written: caseDocument{scenario: scenario{From: from, Containers: map[string]containerEnds{first: e}}}}
	}
	all := []candidate{
		containers("", containerEnds{Reason: new(text)}),
		containers("", containerEnds{Message: new(text)}),
		pod(map[string]any{"reason": text}),
		pod(map[string]any{"message": text}),
		pod(map[string]any{"conditions": []any{
			map[string]any{"type": "DisruptionTarget", "status": "True", "reason": text},
		}}),
	}
	for _, status := range []string{"True", "False"} {
		all = append(all, pod(map[string]any{"conditions": []any{map[string]any{"type": text, "status": status}}}))
	}
	waiting := containers("image-pull-backoff", containerEnds{Reason: new(text)})
	return append(all, w.moments(waiting, s.scenarios[waiting.written.From])...)
}
