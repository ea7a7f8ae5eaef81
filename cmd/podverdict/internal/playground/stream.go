package playground

import (
	"bytes"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Objects are a Job with all that decides on it.
type Objects struct {
	Job      *batchv1.Job
	Pods     []*corev1.Pod
	Policies []*v1alpha1.PodFailurePolicy
	Bindings []*v1alpha1.PodFailurePolicyBinding
	// Namespace is the Job's, or nil when its labels decide nothing.
	Namespace *corev1.Namespace
}

const leftOut = `# Left out: commands, arguments, probes, hooks,
# volumes, values of environment variables,
# managedFields, the annotation
# last-applied-configuration. Rules that read these
# decide otherwise here.
`

// YAML returns the objects as a stream, without what may be secret and decides nothing. They stay as they are.
func (o Objects) YAML() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Job %s/%s of the cluster, and its Pods (%d).\n%s", o.Job.Namespace, o.Job.Name, len(o.Pods), leftOut)
	for i, object := range o.all() {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// all returns copies of the objects, which say of what kind they are.
func (o Objects) all() []any {
	job := o.Job.DeepCopy()
	job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	strip(&job.ObjectMeta)
	strip(&job.Spec.Template.ObjectMeta)
	stripPod(&job.Spec.Template.Spec)
	all := []any{job}
	for _, policy := range o.Policies {
		p := policy.DeepCopy()
		p.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PodFailurePolicy"}
		p.Status = v1alpha1.PodFailurePolicyStatus{}
		strip(&p.ObjectMeta)
		all = append(all, p)
	}
	for _, binding := range o.Bindings {
		b := binding.DeepCopy()
		b.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PodFailurePolicyBinding"}
		b.Status = v1alpha1.PodFailurePolicyBindingStatus{}
		strip(&b.ObjectMeta)
		all = append(all, b)
	}
	if o.Namespace != nil {
		all = append(all, o.Namespace)
	}
	for _, pod := range o.Pods {
		p := pod.DeepCopy()
		p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		strip(&p.ObjectMeta)
		stripPod(&p.Spec)
		all = append(all, p)
	}
	return all
}

// strip removes the copies of an object that its metadata holds.
func strip(object *metav1.ObjectMeta) {
	object.ManagedFields = nil
	delete(object.Annotations, corev1.LastAppliedConfigAnnotation)
}

// stripPod removes what programs are given: secrets may be among it.
func stripPod(spec *corev1.PodSpec) {
	spec.Volumes = nil
	for i := range spec.InitContainers {
		stripContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		stripContainer(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		stripContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

func stripContainer(c *corev1.Container) {
	c.Command, c.Args, c.EnvFrom, c.VolumeMounts, c.VolumeDevices = nil, nil, nil, nil, nil
	c.Lifecycle, c.LivenessProbe, c.ReadinessProbe, c.StartupProbe = nil, nil, nil, nil
	for i := range c.Env {
		c.Env[i] = corev1.EnvVar{Name: c.Env[i].Name}
	}
}
