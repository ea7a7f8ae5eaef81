package integration

import (
	"fmt"
	"strings"
)

// An Edit replaces a text of upstream's tests.
type Edit struct {
	From, To string
	In       string // the function that contains it, if not all releases have that
}

// Package moves a file of upstream's tests to this package.
var Package = Edit{From: "package job\n", To: "package integration\n"}

// Edits make the tests in job_test.go run our controller.
var Edits = []Edit{
	{ // startJobControllerAndWaitForCaches: options delay the events of Jobs
		From: "options ...informers.SharedInformerOption) (context.Context, context.CancelFunc) {\n\ttb.Helper()\n",
		To:   "options ...informers.SharedInformerOption) (context.Context, context.CancelFunc) {\n\ttb.Helper()\n\tif true {\n\t\treturn Start(tb, restConfig, len(options) > 0)\n\t}\n",
	},
	{ // TestOrphanPodsFinalizersClearedWithGC shares its caches with the garbage collector
		From: "jc, ctx, cancel := createJobControllerWithSharedInformers(t, restConfig, informerSet)\n\t\t\t",
		To:   "ctx, cancel := Start(t, restConfig, false)\n\t\t\t",
	},
	{From: "\t\t\tgo jc.Run(ctx, 1)\n", To: ""},
	{ // it waits until its own caches have the new Job
		In:   "testJobRecreationClearsPodExpectations",
		From: "\tjc, ctx, cancel := createJobControllerWithSharedInformers(t, restConfig, informerSet)\n\tt.Cleanup(cancel)\n\tinformerSet.Start(ctx.Done())\n\tgo jc.Run(ctx, 1)\n",
		To:   "\tctx, cancel := Start(t, restConfig, false)\n\tt.Cleanup(cancel)\n\tinformerSet.Batch().V1().Jobs().Informer()\n\tinformerSet.Start(ctx.Done())\n",
	},
	{From: "\treturn clientSet.BatchV1().Jobs(ns).Create(ctx, jobObj, metav1.CreateOptions{})\n", To: "\tAdopt(jobObj)\n\treturn clientSet.BatchV1().Jobs(ns).Create(ctx, jobObj, metav1.CreateOptions{})\n"},
	{From: "value, err := testutil.GetCounterMetricValue(counterVec.WithLabelValues(wantMetric.Labels...))", To: "value, err := Count(counterVec.Subsystem+\"_\"+counterVec.Name, wantMetric.Labels, wantMetric.Value)"},
	{From: "\t\"k8s.io/component-base/metrics/testutil\"\n", To: ""},
	{From: " test.enableJobManagedBy,", To: " true,"}, // otherwise the API server drops managedBy
	{From: "cmp.Diff(wantStatus, gotJob.Status,", To: "cmp.Diff(wantStatus, WithoutLedger(gotJob.Status),"},
	{From: `ctrl := "job-controller"`, To: "ctrl := Reporter"},
	{ // cleanUp relies on a controller that waits for a second before it replaces pods that are deleted: the Job goes first
		From: "podFinalizersToRemove []string) error {\n",
		To:   "podFinalizersToRemove []string) error {\n\tif err := deleteJob(ctx, clientSet, jobObj); err != nil {\n\t\treturn err\n\t}\n",
	},
	{
		From: "\treturn clientSet.BatchV1().Jobs(jobObj.Namespace).Delete(ctx, jobObj.Name, metav1.DeleteOptions{\n\t\tPropagationPolicy: ptr.To(metav1.DeletePropagationBackground),\n\t})\n}\n",
		To:   "\treturn nil\n}\n\nfunc deleteJob(ctx context.Context, clientSet clientset.Interface, jobObj *batchv1.Job) error {\n\treturn clientSet.BatchV1().Jobs(jobObj.Namespace).Delete(ctx, jobObj.Name, metav1.DeleteOptions{\n\t\tPropagationPolicy: ptr.To(metav1.DeletePropagationBackground),\n\t})\n}\n",
	},
	{From: "func resetMetrics() {\n", To: "func resetMetrics() {\n\tResetCounts()\n"},
}

// OursBefore137 has the edits of our own files, by path, for releases before 1.37, whose modules lack symbols that these
// files use.
var OursBefore137 = map[string][]Edit{
	"compiler/base.go": {
		{From: "library.Lists(library.ListsVersion(0))", To: "library.Lists()"},
		{From: "\tsince(37, library.Lists(library.ListsVersion(1)))\n", To: ""},
	},
}

// Apply applies the edits to a file. Each must match: a test that ran upstream's controller would prove nothing.
func Apply(tests string, edits ...Edit) (string, error) {
	for _, edit := range edits {
		if edit.In != "" && !strings.Contains(tests, "func "+edit.In+"(") {
			continue
		}
		if found := strings.Count(tests, edit.From); found != 1 {
			return "", fmt.Errorf("%d places, want 1, for the edit of\n%s", found, edit.From)
		}
		tests = strings.Replace(tests, edit.From, edit.To, 1)
	}
	return tests, nil
}
