//go:build cluster

package tenants

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/internal/installed"
)

// mostDelay is what the controller may be late by because of an attack.
const mostDelay = time.Second

// pace is how long Jobs of one Pod take from their creation to their end: as many that the controller runs, and that Kubernetes'
// own does. These have to wait for the same API server on the same machine.
type pace struct{ managed, native times }

// times are in their order.
type times []time.Duration

func (s times) median() time.Duration { return s[len(s)/2] }

// spread is by how much the median may be wrong.
func (s times) spread() time.Duration { return s[len(s)-1] - s[0] }

func (p pace) String() string {
	return fmt.Sprintf("Jobs of one Pod %v, and %v by Kubernetes", p.managed.median().Round(time.Millisecond), p.native.median().Round(time.Millisecond))
}

// delay is by how much Jobs are later than usual, apart from what Kubernetes' are late by and from what they differ by as usual.
func (p pace) delay(usual pace) time.Duration {
	machine := max(0, p.native.median()-usual.native.median())
	return p.managed.median() - usual.managed.median() - machine - usual.managed.spread()
}

// pace runs Jobs of both kinds at once.
func (v *victim) pace(t *testing.T) pace {
	t.Helper()
	const each = 5
	begin := make(map[string]time.Time, 2*each)
	for n := range each {
		for _, kind := range []string{"managed", "native"} {
			job := newJob(fmt.Sprintf("pace-%s-%d", kind, n), func(s *batchv1.JobSpec) {
				if kind == "native" {
					s.ManagedBy = nil
				}
			})
			begin[job.Name] = time.Now()
			if _, err := v.client.BatchV1().Jobs(v.namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var p pace
	installed.Within(t, patience, "the Jobs that set the pace have ended", func(ctx context.Context) (bool, error) {
		jobs, err := v.client.BatchV1().Jobs(v.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range jobs.Items {
			name := jobs.Items[i].Name
			since, waiting := begin[name]
			if !waiting || finished(&jobs.Items[i]) == nil {
				continue
			}
			delete(begin, name)
			if strings.HasPrefix(name, "pace-managed") {
				p.managed = append(p.managed, time.Since(since))
			} else {
				p.native = append(p.native, time.Since(since))
			}
		}
		return len(begin) == 0, fmt.Errorf("%d have not", len(begin))
	})
	slices.Sort(p.managed)
	slices.Sort(p.native)
	return p
}
