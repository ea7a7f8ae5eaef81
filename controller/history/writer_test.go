package history

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/internal/history"
	"github.com/podverdict/podverdict/internal/testing/fixtures"
	"github.com/podverdict/podverdict/runtime"
)

func pod(n int) *corev1.Pod {
	name := fmt.Sprintf("pod-%04d", n)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-of-" + name),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-of-train", Controller: new(true)}},
	}}
}

func job() *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "uid-of-train"}}
}

// running is a running Writer in a synctest bubble.
type running struct {
	*Writer
	counts fixtures.Counted
	stop   func()
	log    *[]string
}

func start(t *testing.T, directory string) *running {
	t.Helper()
	counts := fixtures.NewCounted(t)
	o := Options{Directory: directory, MaxBytes: MinBytes, MaxFileAge: time.Hour, Metrics: counts.Metrics}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Writer: w, counts: counts, log: &[]string{}}
	logger := funcr.New(func(_, text string) { *r.log = append(*r.log, text) }, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	done := make(chan struct{})
	go func() {
		w.Run(ctx)
		close(done)
	}()
	r.stop = func() {
		cancel()
		<-done
	}
	synctest.Wait()
	return r
}

// judged adds verdicts on Pods, and waits until they are written.
func (r *running) judged(from, to int) {
	for n := from; n < to; n++ {
		r.Judged(pod(n), runtime.Unmatched(pod(n)), nil)
	}
	time.Sleep(2 * period)
	synctest.Wait()
}

// written returns the UIDs in the files of a directory in order, and the total size of the files.
func written(t *testing.T, directory string) (uids []string, bytes int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bytes += int64(len(text))
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, "}\n") {
				uids = append(uids, history.UID([]byte(line)))
			}
		}
	}
	return uids, bytes
}

func uids(from, to int) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, string(pod(n).UID))
	}
	return all
}

func expect(t *testing.T, directory string, want []string) {
	t.Helper()
	if got, _ := written(t, directory); !slices.Equal(got, want) {
		t.Errorf("the lines are\n%v\nwant\n%v", got, want)
	}
}

// inBubble runs a test on a virtual clock, which makes the time of each write predictable.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestLinesAreSafeWithinASecond(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "made")
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		r := start(t, directory)
		r.Judged(pod(1), runtime.Unmatched(pod(1)), nil)
		time.Sleep(time.Second)
		synctest.Wait()
		expect(t, directory, uids(1, 2))
		r.Finished(job())
		r.stop() // does not wait for the period
		expect(t, directory, append(uids(1, 2), "uid-of-train"))
		r.counts.Expect(t, map[string]float64{"history_lines_total{result=written}": 2})
	})
}

// TestFilesAreBounded checks that the files never exceed their total limit and contain the newest lines.
func TestFilesAreBounded(t *testing.T) {
	directory := t.TempDir()
	const mine = "19990101T000000.000000Z-notes.txt"
	if err := os.WriteFile(filepath.Join(directory, mine), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		r := start(t, directory)
		defer r.stop()
		const lines = 400 // of 64 KiB each
		for n := 0; n < lines; n += 25 {
			for i := n; i < n+25; i++ {
				large := pod(i)
				large.Annotations = map[string]string{"a.k8s.io/b": strings.Repeat("x", 1<<16)}
				r.Judged(large, runtime.Unmatched(large), nil)
			}
			r.judged(0, 0)
			if _, size := written(t, directory); size > MinBytes {
				t.Fatalf("after %d lines, the files have %d bytes", n, size)
			}
		}
		got, size := written(t, directory)
		slices.Sort(got) // files with the same time have no order
		if want := uids(lines-len(got), lines); !slices.Equal(got, want) || size < MinBytes*3/4 {
			t.Errorf("%d bytes and the lines %v are left", size, got)
		}
		if _, err := os.Stat(filepath.Join(directory, mine)); err != nil {
			t.Error(err)
		}
	})
}

func TestFilesAge(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		r := start(t, directory)
		defer r.stop()
		for n := range 4 {
			r.judged(n, n+1)
			time.Sleep(25 * time.Minute)
		}
		if files := r.names(); len(files) != 2 {
			t.Errorf("%d files, want one an hour", len(files))
		}
		expect(t, directory, uids(0, 4))
	})
}

// TestAnotherProcess checks that a process does not repeat lines in the directory, regardless of which process wrote them, except for a
// truncated line. It starts a new file, so that the truncated line does not damage others.
func TestAnotherProcess(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		first := start(t, directory)
		first.Finished(job())
		first.judged(0, 10)
		first.stop()
		_, size := written(t, directory)
		if err := os.Truncate(first.names()[0], size-5); err != nil { // inside the line of Pod 9
			t.Fatal(err)
		}
		second := start(t, directory)
		second.Finished(job())
		second.judged(0, 12)
		second.stop()
		expect(t, directory, append(append([]string{"uid-of-train"}, uids(0, 9)...), uids(9, 12)...))
	})
}

// TestTwoReplicas checks that two replicas can write at the same time, such as when one has not noticed yet that it has lost its lease.
func TestTwoReplicas(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		a, b := start(t, directory), start(t, directory)
		a.Judged(pod(1), runtime.Unmatched(pod(1)), nil)
		b.judged(1, 3)
		a.judged(3, 4)
		a.stop()
		b.stop()
		got, _ := written(t, directory)
		slices.Sort(got)
		if want := []string{"uid-of-pod-0001", "uid-of-pod-0001", "uid-of-pod-0002", "uid-of-pod-0003"}; !slices.Equal(got, want) {
			t.Errorf("the lines are %v, want %v", got, want)
		}
	})
}

// TestNoRoom checks that lines are counted and dropped while writing fails, that this is logged once, and that writing resumes.
func TestNoRoom(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "here")
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		r := start(t, directory)
		defer r.stop()
		r.judged(0, 1)
		r.closeFile()
		if err := os.Rename(directory, directory+"-away"); err != nil {
			t.Fatal(err)
		}
		r.judged(1, 3)
		r.judged(3, 4)
		if err := os.Rename(directory+"-away", directory); err != nil {
			t.Fatal(err)
		}
		r.judged(4, 5)
		expect(t, directory, append(uids(0, 1), uids(4, 5)...))
		r.counts.Expect(t, map[string]float64{"history_lines_total{result=written}": 2, "history_lines_total{result=dropped}": 3})
		if log := strings.Join(*r.log, "\n"); strings.Count(log, "are lost") != 1 || !strings.Contains(log, "no such file") {
			t.Errorf("the log says\n%s", log)
		}
	})
}

// TestPartOfABatch checks that a batch written partially before the disk was full is truncated, and that no empty file remains.
func TestPartOfABatch(t *testing.T) {
	directory := t.TempDir()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		r := start(t, directory)
		defer r.stop()
		r.judged(0, 1)
		_, size := written(t, directory)
		limited(t, size+100, func() { r.judged(1, 2) })
		expect(t, directory, uids(0, 1))
		if _, left := written(t, directory); left != size {
			t.Errorf("the file has %d bytes, want %d", left, size)
		}
		limited(t, 100, func() { r.judged(2, 3) })
		if n := len(r.names()); n != 1 {
			t.Errorf("there are %d files, want 1", n)
		}
		r.judged(3, 4)
		expect(t, directory, append(uids(0, 1), uids(3, 4)...))
	})
}

// limited calls do while the file size is limited.
func limited(t *testing.T, size int64, do func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = uint64(size)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	do()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
}

// TestHangingDisk checks that a hanging disk does not block callers, and that lines in excess of the queue are counted.
func TestHangingDisk(t *testing.T) {
	counts := fixtures.NewCounted(t)
	w := &Writer{Options: Options{Metrics: counts.Metrics}}
	one, verdict := pod(1), runtime.Unmatched(pod(1))
	for range maxWaiting + 7 {
		w.Judged(one, verdict, nil)
	}
	counts.Expect(t, map[string]float64{"history_lines_total{result=dropped}": 7})
}

// TestGiantLine checks that a line too long for any file does not affect other lines.
func TestGiantLine(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) { //nolint:thelper // it is the test
		r := start(t, directory)
		defer r.stop()
		giant := pod(1)
		giant.Annotations = map[string]string{"a.k8s.io/b": strings.Repeat("x", maxText)}
		r.Judged(giant, runtime.Unmatched(giant), nil)
		r.judged(2, 3)
		expect(t, directory, uids(2, 3))
	})
}

func TestNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Directory: filepath.Join(file, "below")}); err == nil {
		t.Error("a directory below a file is no error")
	}
}

func TestNone(t *testing.T) {
	w, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Judged(pod(1), runtime.Verdict{}, nil)
	w.Finished(job())
	w.Run(t.Context())
}
