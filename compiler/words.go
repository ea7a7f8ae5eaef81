package compiler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/didyoumean"
)

// Words that Kubernetes 1.37 and the common container runtimes write into the status of Pods. The lists are not complete: an unknown word
// is only reported if it is similar to a known one.
var (
	// ConditionTypes are the types of Pod conditions.
	ConditionTypes = []string{
		string(corev1.DisruptionTarget), string(corev1.PodScheduled), string(corev1.PodReady), string(corev1.ContainersReady),
		string(corev1.PodInitialized), string(corev1.PodReadyToStartContainers), string(corev1.PodResizePending),
		string(corev1.PodResizeInProgress),
	}
	// ConditionReasons are the reasons of Pod conditions.
	ConditionReasons = []string{
		corev1.PodReasonPreemptionByScheduler, corev1.PodReasonTerminationByKubelet, corev1.PodReasonUnschedulable,
		corev1.PodReasonSchedulingGated, corev1.PodReasonSchedulerError, "DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC",
		"ContainersNotReady", "ContainersNotInitialized", "PodCompleted", "PodFailed",
	}
	// PodReasons are the reasons in the status of a Pod.
	PodReasons = []string{
		"Evicted", "DeadlineExceeded", "NodeLost", "NodeShutdown", "Terminated", "Shutdown", "UnexpectedAdmissionError", "OutOfcpu",
		"OutOfmemory", "OutOfpods", "OutOfephemeral-storage", "NodeAffinity", "Preempting", "TopologyAffinityError", "SMTAlignmentError",
		"AdmissionFailed", "PodOSNotSupported", "AppArmor",
	}
	// ContainerReasons are the reasons for which a container waits or has terminated.
	ContainerReasons = []string{
		"OOMKilled", "Error", "Completed", "StartError", "ContainerCannotRun", "ContainerStatusUnknown", "DeadlineExceeded", "ContainerCreating",
		"PodInitializing", "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
		"RegistryUnavailable", "SignatureValidationFailed", "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
		"PreStartHookError", "PostStartHookError",
	}
)

// Misspelt returns the known word that is most similar to a word, or "". It ignores words with a domain, because others define them.
func Misspelt(word string, known []string) string {
	if slices.Contains(known, word) || strings.Contains(word, "/") {
		return ""
	}
	return didyoumean.Name(word, known)
}

// MaxExitCode is the highest exit code of a process on Linux. Exit codes on Windows can be higher.
const MaxExitCode = 255

// unusualCodes reports exit codes that no process on Linux has.
func (l *linter) unusualCodes(this linted) {
	m, ok := this.Match.(ExitCodes)
	if !ok || l.job.Template.Spec.OS != nil && l.job.Template.Spec.OS.Name == corev1.Windows {
		return
	}
	for i, code := range m.Values {
		if code < 0 || code > MaxExitCode {
			l.report(CheckExitCode, Warning, this, fmt.Sprintf("%s.values[%d]", this.selector(), i),
				fmt.Sprintf("no process on Linux exits with %d: exit codes are from 0 to %d", code, MaxExitCode),
				"a container that signal n has killed exits with 128 + n; for Windows, set os.name in the pod template")
		}
	}
}

// unusualConditions reports condition types that are similar to a type that Kubernetes writes.
func (l *linter) unusualConditions(this linted) {
	m, ok := this.Match.(PodConditions)
	if !ok {
		return
	}
	for i, p := range m.Patterns {
		if meant := Misspelt(string(p.Type), ConditionTypes); meant != "" {
			l.report(CheckMisspelt, Warning, this, fmt.Sprintf("%s[%d].type", this.selector(), i),
				fmt.Sprintf("Kubernetes writes no Pod condition %q", p.Type), didyoumean.DidYouMean(meant))
		}
	}
}
