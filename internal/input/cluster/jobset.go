//go:build !js

package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/internal/input/manifest"
)

// resolveJobSets finds the Jobs of JobSets by their labels. A restart creates new Jobs, which are selected as well.
func (c *Cluster) resolveJobSets(ctx context.Context, q Query, t Target, s *selection) error {
	sets, err := find[v1alpha2.JobSet, v1alpha2.JobSetList](ctx, c, c.jobSets, q, t)
	if err != nil || len(sets) == 0 {
		return err
	}
	wanted := map[types.NamespacedName]bool{}
	for _, set := range sets {
		wanted[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = true
	}
	ofSet := v1alpha2.JobSetNameKey
	if t.Name != "" {
		ofSet += "=" + t.Name
	}
	jobs, err := c.jobs(ctx, Query{AllNamespaces: q.AllNamespaces, Selector: ofSet}, Target{Kind: Job})
	for _, job := range jobs {
		if wanted[types.NamespacedName{Namespace: job.Namespace, Name: job.Labels[v1alpha2.JobSetNameKey]}] {
			s.add(job, true)
		}
	}
	s.laterJobs, _ = labels.Parse(ofSet)
	return err
}

// joinJobSets reads the JobSets that created the Jobs. It ignores JobSets that no longer exist. A missing permission to read them is
// not an error, but is reported in unread.
func (c *Cluster) joinJobSets(ctx context.Context, jobs []manifest.Job) (unread string, err error) {
	read := map[types.NamespacedName]*v1alpha2.JobSet{}
	for i := range jobs {
		job := jobs[i].Object
		name := types.NamespacedName{Namespace: job.Namespace, Name: job.Labels[v1alpha2.JobSetNameKey]}
		if name.Name == "" {
			continue
		}
		set, known := read[name]
		if !known {
			set, err = Get[v1alpha2.JobSet](ctx, c.jobSets, JobSet.plural(), name.Namespace, name.Name)
			get := request{"get", JobSet.resource(), name.Namespace}
			switch {
			case apierrors.IsForbidden(err):
				return fmt.Sprintf("JobSets are left out of account: %s may not be read\nsee %s", JobSet.resource(), c.canI(get)), nil
			case apierrors.IsNotFound(err):
				set = nil
			case err != nil:
				return "", c.failure(err, get)
			}
			read[name] = set
		}
		if set != nil {
			jobs[i] = manifest.OfJobSet(jobs[i], set)
		}
	}
	return "", nil
}
