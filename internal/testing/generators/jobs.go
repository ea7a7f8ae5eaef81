package generators

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Jobs creates random Jobs, updates of Jobs and CronJobs from a seed.
//
// A well-typed generator creates Jobs that the API server accepts: half of the Jobs are Indexed, half have a failure
// policy, and a third of the Indexed ones have a success policy. Fields with a default are often omitted.
//
// A hostile generator adds one to three faults to two Jobs in five, chosen evenly from a list that covers every constraint:
// see job_faults.go. Updates also get valid and invalid edits: see job_edits.go.
//
// Pod templates are always valid except for the restart policy, so that all findings are about the Job's own fields.
//
// Jobs is not safe for concurrent use.
type Jobs struct {
	hostile bool
	// draw is well-typed; spoil creates policies that the API server would reject.
	draw, spoil *Pairs
}

// NewJobs returns a generator whose results depend only on the arguments.
func NewJobs(seed uint64, hostile bool) *Jobs {
	return &Jobs{hostile: hostile, draw: NewPairs(seed, false), spoil: NewPairs(seed, true)}
}

var (
	generatedJobs = [...]string{"train", "a", "nightly-report-2", "job-0", "x123456789-123456789-123456789-123456789"}
	// Tags and digests of images; the API server's default pull policy depends on them.
	generatedTags = [...]string{
		":1", "", ":latest", "@sha256:" + generatedDigest, ":latest@sha256:" + generatedDigest, ":1@sha256:" + generatedDigest,
	}
	// Valid managers.
	generatedManagers = [...]string{
		"kueue.x-k8s.io/multikueue", "kubernetes.io/job-controller", "example.com/a/b", "a/b", "x.y/~%!$&'()*+,;=:_.-",
	}
	// Numbers that are valid for every limit, small ones first.
	generatedLimits = [...]int32{0, 1, 2, 3, 6, 10, 100, 10_000, 1<<31 - 1}
	// Texts of indexes that are valid for 10 completions, with their number.
	generatedIndexes = [...]struct {
		written string
		total   int32
	}{
		{"0", 1}, {"1,3,5", 3}, {"0-8", 9}, {"9", 1}, {"0-2,4-6", 6}, {"", 0}, {"+1", 1}, {"01,02-9", 9}, {"0,2-3,+5,007-9", 7},
	}
)

const (
	generatedDigest      = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	generatedUID         = types.UID("5d2c0c5e-7a5b-4f0c-9d7e-0a1b2c3d4e5f")
	generatedCompletions = 10 // the minimum for the valid success policies
)

// Job returns a random Job as submitted by a user. The caller owns it.
func (g *Jobs) Job() *batchv1.Job {
	j := g.legalJob()
	if g.hostile && g.draw.rng.IntN(5) < 2 {
		g.spoilJob(j)
	}
	return j
}

// CronJob returns a random CronJob.
func (g *Jobs) CronJob() *batchv1.CronJob {
	job := g.Job()
	cron := &batchv1.CronJob{TypeMeta: job.TypeMeta, ObjectMeta: job.ObjectMeta}
	cron.Kind = "CronJob"
	cron.Name = pick(g.draw, generatedJobs[:])
	cron.Spec.Schedule = "*/5 * * * *"
	cron.Spec.JobTemplate.Spec = job.Spec
	return cron
}

// CronJobUpdate returns a random CronJob and the stored one that it replaces. They have different Jobs: everything in a
// CronJob may change.
func (g *Jobs) CronJobUpdate() (cron, old *batchv1.CronJob) {
	cron, old = g.CronJob(), g.CronJob()
	cron.UID, cron.ResourceVersion = generatedUID, "1"
	old.ObjectMeta = cron.ObjectMeta
	return cron, old
}

func (g *Jobs) legalJob() *batchv1.Job {
	j := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}}
	j.Name, j.Namespace = pick(g.draw, generatedJobs[:]), "default"
	s := &j.Spec
	g.podTemplate(&s.Template)
	if g.one(2) {
		g.failurePolicy(s)
	}
	switch g.draw.rng.IntN(4) {
	case 0:
	case 1:
		s.CompletionMode = new(batchv1.NonIndexedCompletion)
		g.size(s)
	default:
		g.index(s)
	}
	g.limits(s)
	return j
}

// size sets completions, parallelism, both or none.
func (g *Jobs) size(s *batchv1.JobSpec) {
	if g.one(2) {
		s.Completions = new(g.limit())
	}
	if g.one(2) {
		s.Parallelism = new(g.limit())
	}
}

// index makes the Job Indexed, and sets fields that only Indexed Jobs may have.
func (g *Jobs) index(s *batchv1.JobSpec) {
	s.CompletionMode = new(batchv1.IndexedCompletion)
	s.Completions = new(generatedCompletions + skewed(g.draw, generatedLimits[:7]))
	if g.one(2) {
		s.Parallelism = new(*s.Completions)
	}
	if g.one(2) {
		s.BackoffLimitPerIndex = new(skewed(g.draw, generatedLimits[:]))
		if g.one(2) {
			s.MaxFailedIndexes = new(int32(g.draw.rng.IntN(generatedCompletions + 1)))
		}
	}
	if g.draw.rng.IntN(3) == 0 {
		s.SuccessPolicy = g.successPolicy()
	}
	g.dropFailIndex(s)
}

// dropFailIndex replaces FailIndex if there is no limit per index.
func (g *Jobs) dropFailIndex(s *batchv1.JobSpec) {
	if s.PodFailurePolicy == nil || s.BackoffLimitPerIndex != nil {
		return
	}
	for i := range s.PodFailurePolicy.Rules {
		if r := &s.PodFailurePolicy.Rules[i]; r.Action == batchv1.PodFailurePolicyActionFailIndex {
			r.Action = batchv1.PodFailurePolicyActionCount
		}
	}
}

// failurePolicy sets a random policy, and adds the containers that it names to the template.
func (g *Jobs) failurePolicy(s *batchv1.JobSpec) {
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	for range g.draw.rng.IntN(4) {
		r := g.draw.rule()
		if r.OnExitCodes != nil && r.OnExitCodes.ContainerName != nil {
			g.addContainer(&s.Template.Spec, *r.OnExitCodes.ContainerName)
		}
		s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, r)
	}
	g.dropFailIndex(s)
}

func (g *Jobs) successPolicy() *batchv1.SuccessPolicy {
	p := &batchv1.SuccessPolicy{}
	for range g.draw.size(2, 20) {
		var r batchv1.SuccessPolicyRule
		indexes := pick(g.draw, generatedIndexes[:])
		if g.one(2) {
			r.SucceededIndexes = new(indexes.written)
		}
		if r.SucceededIndexes == nil || g.one(2) {
			r.SucceededCount = new(int32(g.draw.rng.IntN(int(indexes.total) + 1)))
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

// limits sets fields that do not depend on others.
func (g *Jobs) limits(s *batchv1.JobSpec) {
	if g.one(4) {
		s.BackoffLimit = new(g.limit())
	}
	if g.one(4) {
		s.ActiveDeadlineSeconds = new(int64(g.limit()) << g.draw.rng.IntN(20))
	}
	if g.one(4) {
		s.TTLSecondsAfterFinished = new(g.limit())
	}
	if g.one(4) {
		s.ManagedBy = new(pick(g.draw, generatedManagers[:]))
	}
	if g.one(4) {
		s.Suspend = new(g.one(2))
	}
	if g.one(4) {
		s.PodReplacementPolicy = new(batchv1.Failed)
	} else if s.PodFailurePolicy == nil && g.one(4) {
		s.PodReplacementPolicy = new(batchv1.TerminatingOrFailed)
	}
}

// podTemplate sets a valid random template with at least one container.
func (g *Jobs) podTemplate(t *corev1.PodTemplateSpec) {
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	if g.one(4) {
		t.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
	g.addContainer(&t.Spec, generatedNames[0])
	if g.one(4) {
		g.addContainer(&t.Spec, generatedNames[g.draw.rng.IntN(6)])
	}
	if g.one(8) {
		t.Labels = map[string]string{"app": "train"}
	}
	if g.one(8) {
		t.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if g.one(8) {
		t.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	}
}

// addContainer adds a container unless the template has it. Names with an odd index belong to init containers, some of
// which are sidecars.
func (g *Jobs) addContainer(s *corev1.PodSpec, name string) {
	list := &s.Containers
	for i := 1; i < len(generatedNames); i += 2 {
		if generatedNames[i] == name {
			list = &s.InitContainers
		}
	}
	for _, c := range *list {
		if c.Name == name {
			return
		}
	}
	c := corev1.Container{Name: name, Image: name + skewed(g.draw, generatedTags[:])}
	if g.one(8) {
		g.decorate(s, &c)
	}
	if g.one(4) {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	}
	if list == &s.InitContainers && g.one(4) {
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	}
	*list = append(*list, c)
}

func (g *Jobs) limit() int32 {
	return skewed(g.draw, generatedLimits[:])
}

// one returns true one time in n, a power of two.
func (g *Jobs) one(n uint32) bool {
	return g.draw.one(n)
}
