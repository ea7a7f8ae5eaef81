package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"old", "target"} {
		if err := os.WriteFile(in(name), []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(in("old"), 0o640), os.Symlink("target", in("link"))); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"new": 0o644, "old": 0o640, "link": 0o600} {
		if err := WriteFile(in(name), []byte("after")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(in(name))
		if text, _ := os.ReadFile(in(name)); err != nil || string(text) != "after" || info.Mode() != mode && runtime.GOOS != "windows" {
			t.Errorf("%s: %q, %v, %v", name, text, info, err)
		}
	}
	if info, err := os.Lstat(in("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v, %v", info, err)
	}
	want := in("no/such") + ": cannot write: no such file or directory"
	if err := WriteFile(in("no/such"), nil); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := WriteFile(folder, nil); err == nil || !strings.HasPrefix(err.Error(), folder+": cannot write: ") {
		t.Errorf("a folder: %v", err)
	}
}

// A pipe is not replaced by a file.
func TestWritePipe(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(reader)
		read <- string(text)
	}()
	err = WriteFile("/dev/fd/"+strconv.Itoa(int(writer.Fd())), []byte("text"))
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	if text := <-read; text != "text" {
		t.Errorf("%q came out of the pipe", text)
	}
}
