package generators

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Update returns a random Job and the stored one that it replaces; the caller owns both. The API server accepts every
// update from a well-typed generator. A hostile generator adds a fault to the stored Job one time in eight, as if a
// constraint were newer than the Job.
func (g *Jobs) Update() (job, old *batchv1.Job) {
	old = g.legalJob()
	if g.hostile && g.one(8) {
		g.spoilJob(old)
	}
	g.store(old)
	job = old.DeepCopy()
	edits := legalEdits[:]
	if g.hostile {
		edits = jobEdits
	}
	for range g.draw.rng.IntN(4) {
		edit := pick(g.draw, edits)
		edit(g, job)
	}
	if g.hostile && g.one(8) {
		name := job.Name
		g.spoilJob(job)
		job.Name = name
	}
	return job, old
}

// store adds the fields that the API server adds to a submitted Job: a UID, a selector with its labels, and a status.
func (g *Jobs) store(j *batchv1.Job) {
	j.UID, j.ResourceVersion = generatedUID, "1"
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = map[string]string{}
	}
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(j.UID)}}
	for _, prefix := range []string{"", "batch.kubernetes.io/"} {
		j.Spec.Template.Labels[prefix+"controller-uid"] = string(j.UID)
		j.Spec.Template.Labels[prefix+"job-name"] = j.Name
	}
	if g.one(2) {
		j.Spec.Suspend = new(true)
	}
	if g.one(2) {
		j.Status.StartTime = new(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	}
	if g.one(4) {
		j.Status.Active = 1
	}
	if g.one(2) {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
			Type: batchv1.JobSuspended, Status: pick(g.draw, generatedStatuses[:]),
		})
	}
}

type jobEdit func(*Jobs, *batchv1.Job)

// legalEdits are changes that are valid for every Job.
var legalEdits = [...]jobEdit{
	func(g *Jobs, j *batchv1.Job) { j.Spec.BackoffLimit = new(g.limit()) },
	func(g *Jobs, j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(g.limit())) },
	func(g *Jobs, j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = new(g.limit()) },
	func(g *Jobs, j *batchv1.Job) { j.Spec.Suspend = new(g.one(2)) },
	func(_ *Jobs, j *batchv1.Job) { j.Labels = map[string]string{"team": "a"} },
	func(g *Jobs, j *batchv1.Job) { // elastic Jobs
		if m := j.Spec.CompletionMode; m == nil || *m != batchv1.IndexedCompletion {
			if j.Spec.Completions != nil || j.Spec.Parallelism != nil { // otherwise completions has a default
				j.Spec.Parallelism = new(g.limit())
			}
		} else if j.Spec.Completions != nil {
			j.Spec.Completions = new(*j.Spec.Completions + 1)
			j.Spec.Parallelism = new(*j.Spec.Completions)
		}
	},
	func(g *Jobs, j *batchv1.Job) { // within the range that is valid for all
		if j.Spec.BackoffLimitPerIndex != nil {
			j.Spec.MaxFailedIndexes = pick(g.draw, []*int32{nil, new(int32(0)), new(int32(1))})
		}
	},
	func(_ *Jobs, j *batchv1.Job) { j.Spec.PodReplacementPolicy = new(batchv1.Failed) },
}

// jobEdits are all changes; most are valid only for some Jobs.
var jobEdits = append([]jobEdit{
	// U1: another selector of the same pods.
	func(g *Jobs, j *batchv1.Job) {
		if j.Spec.Selector == nil {
			return
		}
		if g.one(2) {
			j.Spec.Selector.MatchLabels[batchv1.JobNameLabel] = j.Name
			return
		}
		e := metav1.LabelSelectorRequirement{Key: batchv1.JobNameLabel, Operator: metav1.LabelSelectorOpExists}
		if g.one(2) {
			e.Operator, e.Values = metav1.LabelSelectorOpIn, []string{j.Name, "other"}
		}
		j.Spec.Selector.MatchExpressions = append(j.Spec.Selector.MatchExpressions, e)
	},
	// U2
	func(g *Jobs, j *batchv1.Job) {
		j.Spec.CompletionMode = pick(g.draw, []*batchv1.CompletionMode{
			nil, new(batchv1.NonIndexedCompletion), new(batchv1.IndexedCompletion), new(batchv1.CompletionMode("Other")),
		})
	},
	// U3
	func(g *Jobs, j *batchv1.Job) { g.failurePolicy(&j.Spec) },
	func(_ *Jobs, j *batchv1.Job) { j.Spec.PodFailurePolicy = nil },
	func(g *Jobs, j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: pick(g.draw, [][]batchv1.PodFailurePolicyRule{nil, {}})}
	},
	func(g *Jobs, j *batchv1.Job) { (*g.patternsRule(j))[0].Status = "" },
	func(g *Jobs, j *batchv1.Job) { g.codesRule(j) },
	// U4
	func(g *Jobs, j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex = pick(g.draw, []*int32{nil, new(int32(0)), new(int32(1)), new(int32(2))})
	},
	// U5
	func(g *Jobs, j *batchv1.Job) {
		j.Spec.ManagedBy = pick(g.draw, []*string{nil, new("a/b"), new("example.com/a/b"), new("kubernetes.io/job-controller")})
	},
	// U6
	func(g *Jobs, j *batchv1.Job) {
		g.successRule(j).SucceededCount = new(int32(g.draw.rng.IntN(3)))
	},
	func(_ *Jobs, j *batchv1.Job) { j.Spec.SuccessPolicy = nil },
	func(g *Jobs, j *batchv1.Job) {
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: pick(g.draw, [][]batchv1.SuccessPolicyRule{nil, {}})}
	},
	// U7, U8, B4, S6
	func(g *Jobs, j *batchv1.Job) { j.Spec.Completions = new(g.limit()) },
	func(_ *Jobs, j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism = new(int32(5)), new(int32(5))
	},
	func(_ *Jobs, j *batchv1.Job) { j.Spec.Completions = nil },
	func(g *Jobs, j *batchv1.Job) { j.Spec.Parallelism = new(g.limit()) },
	// U9, unless the old Job is suspended
	templateEdit, templateEdit, templateEdit, templateEdit, templateEdit, templateEdit,
	// writes the API server's defaults into the manifest, or leaves them out
	func(_ *Jobs, j *batchv1.Job) {
		j.Spec.Template.Spec.DNSPolicy = corev1.DNSClusterFirst
		j.Spec.Template.Spec.SchedulerName = corev1.DefaultSchedulerName
		j.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
		j.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{}
		for i := range j.Spec.Template.Spec.Containers {
			j.Spec.Template.Spec.Containers[i].TerminationMessagePath = corev1.TerminationMessagePathDefault
			j.Spec.Template.Spec.Containers[i].TerminationMessagePolicy = corev1.TerminationMessageReadFile
			j.Spec.Template.Spec.Containers[i].ImagePullPolicy = corev1.PullIfNotPresent
		}
	},
}, legalEdits[:]...)

// templateEdit changes the pod template. Changes of the first group are valid while the Job is suspended.
func templateEdit(g *Jobs, j *batchv1.Job) {
	template := &j.Spec.Template
	edit := pick(g.draw, templateEdits[:])
	edit(g, template)
}

var templateEdits = [...]func(*Jobs, *corev1.PodTemplateSpec){
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		t.Spec.NodeSelector = map[string]string{"disk": "hdd"}
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) { t.Spec.NodeSelector = nil },
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		t.Spec.Tolerations = append(t.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		t.Annotations = map[string]string{"example.com/note": "x"}
	},
	func(g *Jobs, t *corev1.PodTemplateSpec) {
		if t.Labels == nil {
			t.Labels = map[string]string{}
		}
		t.Labels["app"] = pick(g.draw, []string{"train", "other"})
	},
	func(g *Jobs, t *corev1.PodTemplateSpec) {
		name := pick(g.draw, []string{"example.com/a", "example.com/b"})
		t.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: name}}
	},
	func(g *Jobs, t *corev1.PodTemplateSpec) {
		c := &t.Spec.Containers[g.draw.rng.IntN(len(t.Spec.Containers))]
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(pick(g.draw, []string{"0.5", "500m", "2"}))}
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		for i := range t.Spec.InitContainers {
			t.Spec.InitContainers[i].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		}
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}}}
		if t.Spec.Affinity == nil {
			t.Spec.Affinity = &corev1.Affinity{}
		}
		t.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
		}
	},
	func(g *Jobs, t *corev1.PodTemplateSpec) {
		t.Spec.Affinity = pick(g.draw, []*corev1.Affinity{nil, {}, {PodAntiAffinity: &corev1.PodAntiAffinity{}}, {PodAffinity: &corev1.PodAffinity{}}})
	},
	// never mutable
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Image = "registry.example.com/main:2"
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Command = []string{"train"} },
	func(_ *Jobs, t *corev1.PodTemplateSpec) { t.Spec.Containers[0].TTY = true },
	func(_ *Jobs, t *corev1.PodTemplateSpec) { t.Spec.PriorityClassName = "high" },
	func(g *Jobs, t *corev1.PodTemplateSpec) {
		g.addContainer(&t.Spec, generatedNames[g.draw.rng.IntN(6)])
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		t.Spec.TerminationGracePeriodSeconds = new(int64(5))
	},
	func(_ *Jobs, t *corev1.PodTemplateSpec) {
		t.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	},
}
