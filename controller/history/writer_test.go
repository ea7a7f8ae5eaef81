package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/internal/fixtures"
	"github.com/podverdict/podverdict/internal/history"
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

// running is a Writer at work in a synctest bubble.
type running struct {
	*Writer
	counts fixtures.Counted
	stop   func()
	log    *[]string
}

func start(t *testing.T, o Options) *running {
	t.Helper()
	counts := fixtures.NewCounted(t)
	o.Metrics = counts.Metrics
	o.Replica = "a"
	if o.MaxBytes == 0 {
		o.MaxBytes, o.MaxFileBytes, o.MaxFileAge = 1<<20, 1<<19, time.Hour
	}
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

// judged has verdicts on Pods given, a while before it returns.
func (r *running) judged(from, to int) {
	for n := from; n < to; n++ {
		r.Judged(pod(n), runtime.Unmatched(pod(n)), nil)
	}
	time.Sleep(2 * period)
	synctest.Wait()
}

// written returns the UIDs in the files of a directory in their order, and how many bytes these have.
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

// inBubble runs a test on a virtual clock. Nothing else would show which line is written when.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestLinesAreSafeWithinASecond(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "made")
	inBubble(t, func(t *testing.T) {
		r := start(t, Options{Directory: directory})
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

// A batch that is full does not wait.
func TestFullBatch(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) {
		r := start(t, Options{Directory: directory, MaxBytes: 1 << 30, MaxFileBytes: 1 << 29, MaxFileAge: time.Hour})
		defer r.stop()
		for n := range maxBatch {
			r.Judged(pod(n), runtime.Unmatched(pod(n)), nil)
		}
		synctest.Wait()
		if got, _ := written(t, directory); len(got) != maxBatch {
			t.Errorf("%d lines are written, want %d", len(got), maxBatch)
		}
	})
}

// Whatever comes, the files have their limits together, and the newest lines are there.
func TestFilesAreBounded(t *testing.T) {
	directory := t.TempDir()
	const mine = "19990101T000000.000Z-notes.txt"
	if err := os.WriteFile(filepath.Join(directory, mine), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(t *testing.T) {
		r := start(t, Options{Directory: directory, MaxBytes: 20_000, MaxFileBytes: 5_000, MaxFileAge: time.Hour})
		defer r.stop()
		for n := 0; n < 500; n += 25 {
			r.judged(n, n+25)
			if _, size := written(t, directory); size > 20_000 {
				t.Fatalf("after %d lines, the files have %d bytes", n, size)
			}
		}
		got, size := written(t, directory)
		if want := uids(500-len(got), 500); !slices.Equal(got, want) || size < 10_000 {
			t.Errorf("%d bytes and the lines %v are left", size, got)
		}
		files, err := os.ReadDir(directory)
		if err != nil || len(files) < 4 || files[0].Name() != mine {
			t.Errorf("the files are %v, %v", files, err)
		}
	})
}

func TestFilesAge(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) {
		r := start(t, Options{Directory: directory})
		defer r.stop()
		for n := range 4 {
			r.judged(n, n+1)
			time.Sleep(25 * time.Minute)
		}
		if files, err := r.files.list(); err != nil || len(files) != 2 {
			t.Errorf("%d files, want one an hour: %v", len(files), err)
		}
		expect(t, directory, uids(0, 4))
	})
}

// A process writes nothing that the directory has, whoever has written it, but for a line that was cut off. It begins a file of
// its own, so that the cut line spoils no other.
func TestAnotherProcess(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) {
		first := start(t, Options{Directory: directory})
		first.Finished(job())
		first.judged(0, 10)
		first.stop()
		files, err := first.files.list()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(directory, files[0].Name()), files[0].Size()-5); err != nil { // in the line of Pod 9
			t.Fatal(err)
		}
		second := start(t, Options{Directory: directory})
		second.Finished(job())
		second.judged(0, 12)
		second.stop()
		expect(t, directory, append(append([]string{"uid-of-train"}, uids(0, 9)...), uids(9, 12)...))
	})
}

// Two replicas write at the same moment, as when one does not know yet that it has lost its lease.
func TestTwoReplicas(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) {
		a, b := start(t, Options{Directory: directory}), start(t, Options{Directory: directory})
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

// As long as the disk is full, lines are counted and dropped, which is logged once. Then it goes on.
func TestFullDisk(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) {
		r := start(t, Options{Directory: directory})
		defer r.stop()
		r.judged(0, 1)
		r.files.close()
		r.files.create = func(name string) (*os.File, error) { return os.OpenFile(name, os.O_CREATE, 0o600) } // cannot be written
		r.judged(1, 3)
		r.judged(3, 4)
		r.files.create = nil
		r.judged(4, 5)
		expect(t, directory, append(uids(0, 1), uids(4, 5)...))
		r.counts.Expect(t, map[string]float64{"history_lines_total{result=written}": 2, "history_lines_total{result=dropped}": 3})
		log := strings.Join(*r.log, "\n")
		if strings.Count(log, "are lost") != 1 || strings.Count(log, "bad file descriptor") != 1 || strings.Count(log, "written again") != 1 {
			t.Errorf("the log says\n%s", log)
		}
	})
}

// What was written of a batch before the disk was full is cut off, and an empty file is not left.
func TestPartOfABatch(t *testing.T) {
	for _, whole := range []string{"", "{}\n"} {
		f := files{Options: Options{Directory: t.TempDir(), Replica: "a", MaxBytes: 100, MaxFileBytes: 50, MaxFileAge: time.Hour}}
		if err := f.begin(); err != nil {
			t.Fatal(err)
		}
		name := f.open.Name()
		if err := f.append([]byte(whole)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.open.WriteString(`{"half":`); err != nil {
			t.Fatal(err)
		}
		f.abandon()
		text, err := os.ReadFile(name)
		if string(text) != whole || errors.Is(err, os.ErrNotExist) != (whole == "") {
			t.Errorf("the file has %q, %v", text, err)
		}
	}
}

// A disk that hangs holds nobody up. What cannot wait is counted.
func TestHangingDisk(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		out := &hanging{free: make(chan struct{})}
		r := start(t, Options{Out: out})
		r.judged(0, 1)
		one, verdict := pod(1), runtime.Unmatched(pod(1))
		for range maxWaiting + 7 {
			r.Judged(one, verdict, nil)
		}
		close(out.free)
		r.stop()
		r.counts.Expect(t, map[string]float64{"history_lines_total{result=written}": maxWaiting + 1, "history_lines_total{result=dropped}": 7})
		lines := bufio.NewScanner(&out.Buffer)
		n := 0
		for ; lines.Scan(); n++ {
		}
		if n != maxWaiting+1 {
			t.Errorf("%d lines are written, want %d", n, maxWaiting+1)
		}
	})
}

type hanging struct {
	bytes.Buffer
	free chan struct{}
}

func (h *hanging) Write(text []byte) (int, error) {
	<-h.free
	return h.Buffer.Write(text)
}

// A line that no file can have does not take others with it.
func TestGiantLine(t *testing.T) {
	directory := t.TempDir()
	inBubble(t, func(t *testing.T) {
		r := start(t, Options{Directory: directory, MaxBytes: 10_000, MaxFileBytes: 2_000, MaxFileAge: time.Hour})
		defer r.stop()
		giant := pod(1)
		giant.Annotations = map[string]string{"a.k8s.io/b": strings.Repeat("x", 3000)}
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
	var w *Writer
	w.Judged(pod(1), runtime.Verdict{}, nil)
	w.Finished(job())
	w.Run(t.Context())
}
