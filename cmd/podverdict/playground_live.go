//go:build !js

package main

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/inforce"
	"github.com/podverdict/podverdict/internal/manifest"
)

// How many Jobs, and Pods of each, a page lists.
const (
	maxListedJobs = 200
	maxListedPods = 20
)

// How long a reading is good for: as long as people wait without noticing, and so long that a cluster whose Jobs take long
// to read is asked a fifth of the time, however many pages are open.
const (
	readingAge  = 2 * time.Second
	readingRest = 4
)

// liveJobs are the Jobs of a cluster for a page.
type liveJobs struct {
	client *cluster.Cluster
	query  cluster.Query

	mutex sync.Mutex
	last  *reading
}

// reading is what was read and judged at a time.
type reading struct {
	list     playground.List
	families map[manifest.Reference]manifest.Family
	custom   *inforce.Policies
	until    time.Time
}

// list returns what the page shows.
func (l *liveJobs) list(ctx context.Context) (playground.List, error) {
	read, err := l.read(ctx)
	if err != nil {
		return playground.List{}, err
	}
	return read.list, nil
}

// stream returns a Job with its Pods and what is in force for it, as YAML.
func (l *liveJobs) stream(ctx context.Context, namespace, name string) ([]byte, error) {
	read, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	family, there := read.families[manifest.Reference{Namespace: namespace, Name: name}]
	if !there {
		return nil, playground.ErrNoJob
	}
	objects := playground.Objects{Job: family.Job.Object}
	for _, pod := range family.Pods {
		objects.Pods = append(objects.Pods, pod.Object)
	}
	// Labels of the namespace that cannot be read are a note of the list.
	objects.Policies, objects.Bindings, objects.Namespace, _ = read.custom.Files(ctx, family.Job.Stored())
	return objects.YAML()
}

// read returns what was read of late, or reads anew.
func (l *liveJobs) read(ctx context.Context) (*reading, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	began := time.Now()
	if l.last != nil && began.Before(l.last.until) {
		return l.last, nil
	}
	read, err := l.readNow(ctx, began)
	if err != nil {
		return nil, err
	}
	ended := time.Now()
	read.until = ended.Add(max(readingAge, readingRest*ended.Sub(began)))
	l.last = read
	return read, nil
}

// readNow reads Jobs with their Pods and judges them, as eval does.
func (l *liveJobs) readNow(ctx context.Context, now time.Time) (*reading, error) {
	var notes bytes.Buffer
	c := &console{stderr: &notes, warned: map[string]bool{}}
	found, err := l.client.Families(ctx, l.query)
	if err != nil {
		return nil, err
	}
	policies, err := readClusterPolicies(ctx, c, l.client)
	if err != nil {
		return nil, err
	}
	planner, err := newPlanner(c, compiler.DefaultVersion, policies, nil)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found.Families, func(a, b manifest.Family) int { // the newest first
		return b.Job.Object.CreationTimestamp.Compare(a.Job.Object.CreationTimestamp.Time)
	})
	page := livePage{planner: planner, now: now}
	read := &reading{families: map[manifest.Reference]manifest.Family{}, custom: planner.custom}
	for _, family := range found.Families {
		page.add(ctx, family)
		read.families[family.Job.Reference()] = family
	}
	read.list = page.list()
	read.list.Scope, read.list.Notes = l.scope(), notes.String()
	return read, nil
}

// scope says which Jobs are read.
func (l *liveJobs) scope() string {
	where := "all namespaces"
	if !l.query.AllNamespaces {
		where = "namespace " + l.client.Namespace
	}
	if l.query.Selector != "" {
		where += " with labels " + l.query.Selector
	}
	return where
}

// livePage judges Jobs and makes the list of them.
type livePage struct {
	planner *planner
	now     time.Time

	failed, ruled []playground.Job // those with Pods to show, and those that only have rules
	others        int
	total         tally
}

// add judges a Job.
func (p *livePage) add(ctx context.Context, family manifest.Family) {
	name := family.Job.Reference()
	shown := playground.Job{Namespace: name.Namespace, Name: name.Name, Pods: []playground.Pod{}}
	planned, err := p.planner.plan(ctx, family.Job)
	if err != nil {
		shown.Error = err.Error()
		p.failed = append(p.failed, shown)
		return
	}
	planned.take(family.Pods)
	if err := p.planner.lookAtNodes(ctx, []plan{planned}); err != nil {
		p.planner.warn(err.Error())
	}
	items := planned.judge(ctx, p.now)
	job := jobItem{Job: name, Outlook: planned.outlook(ctx, items, p.now), now: p.now}
	shown.Outlook = job.String()
	p.total.addJob(job)
	for _, item := range items {
		p.total.add(item)
		switch {
		case !item.judged() && item.Failure == nil && item.restarting() == "":
		case len(shown.Pods) == maxListedPods:
			shown.More++
		default:
			shown.Pods = append(shown.Pods, playground.Pod{Name: item.Pod.Name, Verdict: item.action(), Rule: item.rule(), Because: item.because()})
		}
	}
	switch {
	case len(shown.Pods) > 0 || job.urgent():
		p.failed = append(p.failed, shown)
	case planned.noRules == "":
		p.ruled = append(p.ruled, shown)
	default:
		p.others++
	}
}

// list returns the Jobs that have something to show first.
func (p *livePage) list() playground.List {
	jobs := append(append([]playground.Job{}, p.failed...), p.ruled...)
	listed := jobs[:min(len(jobs), maxListedJobs)]
	return playground.List{Jobs: listed, More: len(jobs) - len(listed), Others: p.others, Summary: p.total.lines()}
}
