//go:build cluster

package custom

import (
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/controlplane"
)

// lives say what becomes of the Job of each example.
var lives = map[string]func(*stage){
	"out-of-memory":       outOfMemory,
	"admission-failure":   admissionFailure,
	"pod-deadline":        podDeadline,
	"named-reason":        namedReason,
	"disruption-budget":   disruptionBudget,
	"exit-code-ranges":    exitCodeRanges,
	"code-and-condition":  codeAndCondition,
	"sidecar-noise":       sidecarNoise,
	"termination-message": terminationMessage,
	"bounded-retries":     boundedRetries,
	"stuck-pending":       stuckPending,
}

func TestExamples(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	client := newCluster(t)
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			live := lives[folder.Name()]
			if live == nil {
				t.Fatal("nobody plays this example")
			}
			live(&stage{T: t, client: client, example: folder.Name()})
		})
	}
}

// The Job's own rule ignores a disruption, whatever its containers died of; without one, memory decides.
func outOfMemory(s *stage) {
	job := s.newTrial("")
	job.fail("oom-drained", long)
	job.isReplaced(0)
	job.fail("killed", long)
	job.isReplaced(1)
	job.fail("oom", long)
	job.ends(batchv1.JobReasonPodFailurePolicy, "Pod POD matching FailJob rule oom-killed of PodFailurePolicy out-of-memory: "+
		"OutOfMemory: main ran out of memory", 2)

	job = s.newTrial("-fetch")
	job.fail("oom-fetch", long)
	job.ends(batchv1.JobReasonPodFailurePolicy, "Pod POD matching FailJob rule oom-killed of PodFailurePolicy out-of-memory: "+
		"OutOfMemory: fetch ran out of memory", 1)
}

// A Job whose first failure is its last one survives three refusals.
func admissionFailure(s *stage) {
	job := s.newTrial("")
	for _, refused := range []string{"disk", "device", "cpu"} {
		job.fail(refused, 0)
		if after := job.isReplaced(0); after < 10*time.Second {
			s.Errorf("%s: replaced after %v", refused, after)
		}
	}
	job.fail("shutdown", 0)
	job.ends(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", 1)

	for _, other := range []string{"bad-command", "pressure"} {
		job = s.newTrial("-" + other)
		job.fail(other, long)
		job.ends(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", 1)
	}
}

// An index whose pod hung has no other attempt; other indexes have one.
func podDeadline(s *stage) {
	job := s.newTrial("")
	job.fail("1", long)
	job.failsIndexes("1")
	job.counts(1)
	job.fail("3", long)
	job.isReplaced(2)
	job.failsIndexes("1")
	job.fail("2", long)
	job.failsIndexes("1,2")
	job.counts(3)
}

// In the condition and in the event, the word after the policy says what failed.
func namedReason(s *stage) {
	job := s.newTrial("")
	job.fail("other", long)
	job.isReplaced(1)
	job.fail("data", long)
	job.ends(batchv1.JobReasonPodFailurePolicy, "Pod POD matching FailJob rule bad-input of PodFailurePolicy named-reason: BadInput", 2)
	job.tells("FailJob by rule bad-input of named-reason: BadInput")

	job = s.newTrial("-config")
	job.fail("config", long)
	job.ends(batchv1.JobReasonPodFailurePolicy,
		"Pod POD matching FailJob rule bad-configuration of PodFailurePolicy named-reason: BadConfiguration", 1)
}

// Five disruptions do not count, and their delay does not grow. Those after them count, as other failures always did.
func disruptionBudget(s *stage) {
	job := s.newTrial("")
	for _, disrupted := range []string{"drained", "preempted", "drained"} {
		job.fail(disrupted, 0)
		// The back-off would be 10, 20 and 40 seconds.
		if after := job.isReplaced(0); after < 10*time.Second || after >= 40*time.Second {
			s.Errorf("%s: replaced after %v", disrupted, after)
		}
	}
	for range 2 {
		job.fail("preempted", long)
		job.isReplaced(0)
	}
	job.fail("drained", long)
	job.isReplaced(1)
	job.fail("failed", long)
	job.ends(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", 2)
}

func exitCodeRanges(s *stage) {
	job := s.newTrial("")
	job.fail("killed", long)
	job.isReplaced(1)
	job.fail("other", long)
	job.isReplaced(2)
	job.fail("service", 50*time.Second)
	if after := job.isReplaced(3); after < time.Minute {
		s.Errorf("replaced after %v", after)
	}
	job.fail("input", long)
	job.ends(batchv1.JobReasonPodFailurePolicy,
		"Pod POD matching FailJob rule bad-input of PodFailurePolicy exit-code-ranges: BadInput", 4)

	job = s.newTrial("-segfault")
	job.fail("segfault", long)
	job.ends(batchv1.JobReasonPodFailurePolicy, "Pod POD matching FailJob rule crash of PodFailurePolicy exit-code-ranges: Crash", 1)
}

// A disruption does not excuse what the program did itself, nor a signal itself.
func codeAndCondition(s *stage) {
	job := s.newTrial("")
	for _, excused := range []string{"drained", "killed", "drained"} {
		job.fail(excused, long)
		job.isReplaced(0)
	}
	job.fail("own-fault", long)
	job.isReplaced(1)
	job.fail("sigterm", long)
	job.ends(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", 2)
}

func sidecarNoise(s *stage) {
	job := s.newTrial("")
	job.fail("busy", long)
	job.isReplaced(1)
	job.fail("bug", long)
	job.ends(batchv1.JobReasonPodFailurePolicy,
		"Pod POD matching FailJob rule fatal of PodFailurePolicy sidecar-noise: Fatal: main exited with 1", 2)
}

func terminationMessage(s *stage) {
	job := s.newTrial("")
	for range 3 {
		job.fail("device", long)
		job.isReplaced(0)
	}
	job.fail("device", long)
	job.isReplaced(1)
	job.fail("other", long)
	job.isReplaced(2)
	job.fail("data", long)
	job.ends(batchv1.JobReasonPodFailurePolicy, "Pod POD matching FailJob rule corrupt-data of PodFailurePolicy termination-message: "+
		"CorruptData: corrupt record 118241: bad checksum", 3)
}

// Each index has its own budget.
func boundedRetries(s *stage) {
	job := s.newTrial("")
	for range 3 {
		job.fail("1", long)
		job.isReplaced(0)
	}
	job.fail("2", long)
	job.isReplaced(0)
	job.fail("1", long)
	job.failsIndexes("1")
	job.counts(1)
	job.fail("2", long)
	job.isReplaced(1)
	job.fail("3", long)
	job.isReplaced(2)
	job.failsIndexes("1")
}

// Where it is ten minutes later, a pod has waited too long for its image and its ConfigMap, but not for a volume or a node.
func stuckPending(s *stage) {
	s.namespace = later
	var patient []*trial
	for _, waits := range []string{"volume", "unschedulable"} {
		job := s.newTrial("-" + waits)
		job.wait(waits)
		patient = append(patient, job)
	}
	for waits, says := range map[string]string{
		"image":  `image of PodFailurePolicy stuck-pending: ImageUnavailable: Back-off pulling image "registry.example/embed:1.0"`,
		"config": "configuration of PodFailurePolicy stuck-pending: ConfigurationMissing",
	} {
		job := s.newTrial("-" + waits)
		job.wait(waits)
		condition := job.isDeleted()
		job.ends(batchv1.JobReasonPodFailurePolicy, "Pod POD matching FailJob rule "+says, 1)
		if waits == "image" { // the example has the pod after its end
			model := conditionOf(job.pods["deleted"], v1alpha1.FailingToStart)
			model.Message = strings.ReplaceAll(model.Message, "default/embed-deleted", later+"/"+job.last.Name)
			if condition.Reason != model.Reason || condition.Message != model.Message {
				s.Errorf("the pod was deleted with %s: %s, the example has %s: %s", condition.Reason, condition.Message, model.Reason, model.Message)
			}
		}
	}
	for _, job := range patient {
		if now := job.pod(""); now.UID != job.last.UID {
			s.Errorf("pod %s was replaced by %s", job.last.Name, now.Name)
		}
	}
}

// Kubernetes takes the Job that it is to run itself, rule on the condition and all.
func TestNativeJob(t *testing.T) {
	t.Parallel()
	client, err := kubernetes.NewForConfig(controlplane.Start(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(readFile(t, "stuck-pending", "native-job.yaml"), job); err != nil {
		t.Fatal(err)
	}
	_, err = client.BatchV1().Jobs(job.Namespace).Create(t.Context(), job, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Error(err)
	}
	if got := job.Spec.PodFailurePolicy.Rules[0].OnPodConditions[0].Type; got != v1alpha1.FailingToStart {
		t.Errorf("the rule asks for condition %s", got)
	}
}
