package generators

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// decorate adds some fields with deeply nested defaults: manifest and stored object differ in them although nothing has
// changed.
func (g *Jobs) decorate(s *corev1.PodSpec, c *corev1.Container) {
	request := &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}
	switch g.draw.rng.IntN(5) {
	case 0:
		c.Ports = []corev1.ContainerPort{{ContainerPort: 8080}, {ContainerPort: 8080, Protocol: corev1.ProtocolUDP}}
	case 1:
		reference := &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}
		c.Env = []corev1.EnvVar{{Name: "EMPTY"}, {Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: reference}}}
	case 2:
		g.addVolume(s, c)
	case 3:
		s.ServiceAccountName = "trainer"
		if len(s.Containers) > 0 { // otherwise it may be an init container
			return
		}
		c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: request}}
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 8081}}, PeriodSeconds: 5}
	case 4:
		if len(s.Containers) > 0 {
			return
		}
		c.Lifecycle = &corev1.Lifecycle{
			PostStart: &corev1.LifecycleHandler{HTTPGet: request},
			PreStop:   &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}},
		}
	}
}

// addVolume adds and mounts a random volume.
func (g *Jobs) addVolume(s *corev1.PodSpec, c *corev1.Container) {
	name := corev1.LocalObjectReference{Name: "settings"}
	files := []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}
	v := corev1.Volume{Name: "v-" + c.Name}
	v.VolumeSource = pick(g.draw, []corev1.VolumeSource{
		{},
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}},
		{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name}},
		{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "a", Path: "b"}}}},
		{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: files}},
		{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: files}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: name}},
		}}},
	})
	s.Volumes = append(s.Volumes, v)
	c.VolumeMounts = []corev1.VolumeMount{{Name: v.Name, MountPath: "/" + v.Name}}
}
