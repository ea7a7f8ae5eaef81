package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// TestLogIsInert checks that neither format passes terminal commands through, and that each line is written once.
func TestLogIsInert(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		t.Cleanup(klog.CaptureState().Restore)
		var l logging
		l.add(pflag.NewFlagSet("", pflag.ContinueOnError))
		l.format = logFormat(format)
		var out bytes.Buffer
		if err := l.start(&out); err != nil {
			t.Fatal(err)
		}
		const hostile = "x\x1b[31m\rz\r\n::error::y\u202e\u009b"
		klog.Background().Info("Said", "name", hostile)
		klog.Background().Error(errors.New(hostile), "Failed")
		klog.Errorf("plain: %s", hostile)
		klog.Flush()
		text := strings.ReplaceAll(out.String(), "\r\n", "\n") // a line may have a Windows line end
		if strings.ContainsAny(text, "\x1b\r\u202e\u009b") || strings.Count(text, "plain: x") != 1 || strings.Count(text, "Failed") != 1 {
			t.Errorf("%s: %q", format, text)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("%s: %q", format, line)
			}
		}
	}
}
