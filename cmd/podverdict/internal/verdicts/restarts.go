package verdicts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/failure"
	"github.com/podverdict/podverdict/internal/kube/restart"
)

// restartItem is a container that restarts in its Pod, or has restarted. The Pod keeps running and has no verdict.
type restartItem struct {
	Container string         `json:"container"`
	ExitCode  int32          `json:"exitCode"`
	Action    restart.Action `json:"action"`
	Rule      *int           `json:"rule,omitempty"`  // index in the container's restartPolicyRules
	Since     string         `json:"since,omitempty"` // first Kubernetes version with this behaviour; absent if all versions have it
	// Counted reports whether the restart counts towards the Job's backoffLimit.
	Counted bool `json:"counted,omitempty"`

	what, why string
	rank      int // sort key; the container that decides about the Pod comes first
}

// restarts returns the containers of a Pod that restart, or have restarted.
func (p *Plan) restarts(pod *corev1.Pod, facts *failure.Facts) []restartItem {
	var items []restartItem
	for _, r := range restart.Of(pod, p.gates()) {
		name := r.Status.Name
		item := restartItem{
			Container: name, ExitCode: r.Exit.ExitCode, Action: r.Action,
			Counted: p.Stored.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure,
			what:    fmt.Sprintf("%s exited with %d", name, r.Exit.ExitCode), why: r.Why(), rank: 1,
		}
		if at := slices.IndexFunc(facts.Containers, func(c failure.Container) bool { return c.Name == name }); at >= 0 {
			item.what = cmp.Or(facts.Containers[at].String(), item.what)
		}
		if r.Rule >= 0 {
			item.Rule = &r.Rule
		}
		if since := r.Since(); since != nil {
			item.Since = since.String()
		}
		if r.IsVictim() {
			item.why, item.rank = "by a restart rule", 2
		} else if r.Action == restart.RestartAllContainers {
			item.rank = 0
		}
		items = append(items, item)
	}
	slices.SortStableFunc(items, func(a, b restartItem) int { return a.rank - b.rank })
	return items
}

// because returns the reason for the restart, and the Kubernetes version that introduced the behaviour.
func (r *restartItem) because() string {
	text := r.why
	if r.Since != "" {
		text += " (Kubernetes " + r.Since + " and later)"
	}
	if r.Counted {
		text += ", and counts towards backoffLimit"
	}
	return text
}

// Restarting describes what restarts do to the Pod. It returns "" without restarts, and for a Pod that a rule ends.
func (i Item) Restarting() string {
	if len(i.Restarts) == 0 || i.Verdict.Terminal || i.Ended {
		return ""
	}
	return i.Restarts[0].Action.Does()
}

// restartText describes which containers restart and why. It omits containers that restart only because of another container.
func (i Item) restartText() string {
	var parts []string
	for n := range i.Restarts {
		if r := &i.Restarts[n]; n == 0 || r.why != i.Restarts[0].why && r.rank < 2 {
			parts = append(parts, fmt.Sprintf("%s: %s, %s", r.what, r.Action.Does(), r.because()))
		}
	}
	return strings.Join(parts, "; ")
}

// noteRestarts notes rules that never see an exit code because the container restarts.
func noteRestarts(c *cli.Console, p *Plan) {
	job := *p.Stored
	job.Spec.PodFailurePolicy = p.Rules.Policy
	for _, f := range compiler.Lint(&job, p.Planner.Kubernetes) {
		if f.Check == compiler.CheckRestartedCode {
			c.Note(fmt.Sprintf("note: rule %d of Job %s cannot match here: %s", f.Rule, p.Job.Reference(), f.Message))
		}
	}
}
