package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// indexVariable is the environment variable that holds the completion index.
const indexVariable = "JOB_COMPLETION_INDEX"

// createPods creates pods for the lowest slots that are neither done nor occupied. A slot whose replacement must wait
// stays reserved.
//
// Choosing the lowest slots is safe even if the cache does not show the latest pods yet: their slots are then among the
// lowest and get the same names again.
func (n *next) createPods() {
	places := n.wantActive(n.active) - n.active // a pod that is leaving still occupies a place
	if n.onlyFailed {
		places -= n.terminating
	}
	if places <= 0 {
		return
	}
	var failures streak
	if !n.perIndex {
		failures = n.streak()
		if delay := n.delay(failures); delay > 0 {
			n.postpone(n.taken.missing(places, n.completions).size(), delay)
			return
		}
	}
	for slot := range n.taken.missing(places, n.completions).all() {
		if len(n.plan.Create) == n.mostCreated() {
			n.again(time.Millisecond) // more pods are wanted
			return
		}
		n.createPod(slot, failures.Failures)
	}
}

// mostCreated returns the maximum number of pods that the Plan may create. It is lower for a large template, because each
// pod is sent in full.
func (n *next) mostCreated() int {
	const most, perPair = 16 << 20, 64 // bytes of all pods, and the overhead of a label or annotation
	template := cmp.Or(n.Template, &n.Job.Spec.Template)
	if n.templateSize == 0 {
		n.templateSize = 1 + template.Size() + perPair*(len(template.Labels)+len(template.Annotations))
	}
	return min(n.settings.MaxCreate, max(1, most/n.templateSize))
}

func (n *next) createPod(slot int, failures int64) {
	if n.awaitsRetry(slot) {
		return
	}
	donor := n.donor(slot)
	if donor != nil {
		if donor.decision == unstored {
			return // its failure is stored first, and only then is it replaced
		}
		if delay := n.indexDelay(donor); delay > 0 {
			n.postpone(1, delay)
			return
		}
	}
	attempt := n.attemptAt(slot)
	name := n.namer.name(slot, attempt)
	for ; n.Taken[name]; name = n.namer.name(slot, attempt) {
		attempt++
	}
	created := n.newPod(name)
	metav1.SetMetaDataLabel(&created.ObjectMeta, AttemptLabel, strconv.Itoa(attempt+1))
	if n.indexed {
		n.addIndex(created, slot)
		n.addMatches(created, slot)
	} else {
		metav1.SetMetaDataLabel(&created.ObjectMeta, SlotLabel, strconv.Itoa(slot))
	}
	if n.perIndex {
		addFailureCounts(created, donor)
	} else if failures > 0 {
		metav1.SetMetaDataAnnotation(&created.ObjectMeta, ConsecutiveFailuresAnnotation, strconv.FormatInt(failures, 10))
	}
	n.addRetries(created, slot)
	n.addHistory(created, slot)
	n.plan.Create = append(n.plan.Create, created)
}

// newPod returns a pod for the Job, made from the template, with the tracking finalizer. Pods share their common parts: a
// template may be a megabyte, and a Plan may create hundreds of pods.
func (n *next) newPod(name string) *corev1.Pod {
	template := cmp.Or(n.Template, &n.Job.Spec.Template)
	if n.podSpec == nil {
		n.podSpec = n.newPodSpec(template)
	}
	created := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Namespace:   n.Job.Namespace,
			Labels:      maps.Clone(template.Labels),
			Annotations: maps.Clone(template.Annotations),
			Finalizers:  append(withoutTracking(template.Finalizers), batchv1.JobTrackingFinalizer),
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(n.Job, batchv1.SchemeGroupVersion.WithKind("Job")),
			},
		},
		Spec: *n.podSpec,
	}
	// The API server adds this label to the template, except for Jobs with manualSelector. The controller watches pods by it.
	metav1.SetMetaDataLabel(&created.ObjectMeta, batchv1.ControllerUidLabel, string(n.Job.UID))
	return created
}

func withoutTracking(finalizers []string) []string {
	var others []string
	for _, f := range finalizers {
		if f != batchv1.JobTrackingFinalizer {
			others = append(others, f)
		}
	}
	return others
}

// newPodSpec returns the template's spec. For an Indexed Job, it adds the index to the containers' environment.
func (n *next) newPodSpec(template *corev1.PodTemplateSpec) *corev1.PodSpec {
	spec := template.Spec
	if n.indexed {
		spec.InitContainers = withIndexVariable(spec.InitContainers)
		spec.Containers = withIndexVariable(spec.Containers)
	}
	return &spec
}

func withIndexVariable(containers []corev1.Container) []corev1.Container {
	with := slices.Clone(containers)
	for i := range with {
		c := &with[i]
		if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
			continue
		}
		path := "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']"
		c.Env = append(slices.Clip(c.Env), corev1.EnvVar{
			Name:      indexVariable,
			ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}},
		})
	}
	return with
}

// addIndex sets the index in an annotation, a label and the host name (KEP-2214, KEP-4017).
func (n *next) addIndex(p *corev1.Pod, index int) {
	text := strconv.Itoa(index)
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, batchv1.JobCompletionIndexAnnotation, text)
	metav1.SetMetaDataLabel(&p.ObjectMeta, batchv1.JobCompletionIndexAnnotation, text)
	p.Spec.Hostname = n.Job.Name + "-" + text
}

// addFailureCounts copies the index's failure count to the new pod (KEP-3850). Ignored failures are counted separately.
func addFailureCounts(p *corev1.Pod, donor *pod) {
	var failures, ignored int64
	if donor != nil {
		failures = annotatedCount(donor.Pod, batchv1.JobIndexFailureCountAnnotation)
		ignored = annotatedCount(donor.Pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if donor.verdict.Counted {
			failures++
		} else {
			ignored++
		}
	}
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, batchv1.JobIndexFailureCountAnnotation, strconv.FormatInt(failures, 10))
	if ignored > 0 {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, batchv1.JobIndexIgnoredFailureCountAnnotation, strconv.FormatInt(ignored, 10))
	}
}
