package caches

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/compiler/custom"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
)

// manyPods serves lists with pages of pods, ten per Job, which are created on request. It does not support streamed lists.
type manyPods struct {
	pods  int
	phase corev1.PodPhase
}

// RoundTrip serves lists, and watches without events.
func (m manyPods) RoundTrip(r *http.Request) (*http.Response, error) {
	q := r.URL.Query()
	if q.Get("sendInitialEvents") != "" {
		status := apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "", nil).Status()
		return m.answer(http.StatusUnprocessableEntity, &status)
	}
	if q.Get("watch") != "" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	page, _ := strconv.Atoi(q.Get("limit"))
	n := m.pods
	jobs := strings.HasSuffix(r.URL.Path, "/jobs")
	if jobs {
		n /= 10
	}
	until := n
	if page > 0 {
		until = min(n, from+page)
	}
	meta := metav1.ListMeta{ResourceVersion: "2000000"}
	if until < n {
		meta.Continue = strconv.Itoa(until)
	}
	if jobs {
		list := &batchv1.JobList{ListMeta: meta}
		list.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("JobList"))
		for i := from; i < until; i++ {
			list.Items = append(list.Items, *largeJob(i))
		}
		return m.answer(http.StatusOK, list)
	}
	list := &corev1.PodList{ListMeta: meta}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	for i := from; i < until; i++ {
		list.Items = append(list.Items, *largePod(i/10, i, m.phase))
	}
	return m.answer(http.StatusOK, list)
}

func (manyPods) answer(code int, object runtime.Object) (*http.Response, error) {
	if status, ok := object.(*metav1.Status); ok {
		status.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Status"))
	}
	var body bytes.Buffer
	err := protobuf.NewSerializer(nil, nil).Encode(object, &body)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {runtime.ContentTypeProtobuf}}, Body: io.NopCloser(&body),
	}, err
}

// BenchmarkMemoryOfProcess reports the memory of a process that has filled its caches with 50,000 pods of 5,000 Jobs: the current memory
// and the peak. Each sub-benchmark needs a separate process because of the peak.
func BenchmarkMemoryOfProcess(b *testing.B) {
	b.Run("running", func(b *testing.B) { benchmarkProcess(b, corev1.PodRunning, custom.NewReads()) })
	b.Run("failed", func(b *testing.B) { benchmarkProcess(b, corev1.PodFailed, readsOf(b, typicalPolicy())) })
}

func benchmarkProcess(b *testing.B, phase corev1.PodPhase, reads custom.Reads) {
	b.Helper()
	const pods = 50_000
	config := &rest.Config{Host: "http://localhost", Transport: manyPods{pods, phase}, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}}
	client, err := kubernetes.NewForConfig(config)
	fixtures.Put(b, err)
	for b.Loop() {
		caching := newCaching(true)
		caching.keep(reads)
		informer, err := newPodInformer(client, "", caching)
		fixtures.Put(b, err)
		jobs, err := newJobInformer(client, "", caching)
		fixtures.Put(b, err)
		ctx, stop := context.WithTimeout(klog.NewContext(b.Context(), logr.Discard()), 5*time.Minute)
		go informer.RunWithContext(ctx)
		go jobs.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, jobs.HasSynced) {
			b.Fatal("the caches are not filled")
		}
		if n, j := len(informer.GetIndexer().ListKeys()), len(jobs.GetIndexer().ListKeys()); n != pods || j != pods/10 {
			b.Fatalf("%d pods, %d Jobs", n, j)
		}
		b.ReportMetric(float64(heap())/(1<<20), "MiB-heap")
		for field, unit := range map[string]string{"VmRSS": "MiB-rss", "VmHWM": "MiB-peak"} {
			b.ReportMetric(residentMiB(b, field), unit)
		}
		stop()
	}
}

// residentMiB returns a memory field of /proc/self/status.
func residentMiB(b *testing.B, field string) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	var kib float64
	_, rest, _ := strings.Cut(string(text), field+":")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
