package metrics

import (
	"testing"
)

func TestIndexCount(t *testing.T) {
	for text, want := range map[string]int32{
		"": 0, "0": 1, "9": 1, "10": 0, "0-9": 10, "0,2-4,8-1000": 6, "5-1": 0, "x": 0, "1,x,3": 2, "-3": 0, "1--3": 0,
		"0-99999999999999999999": 0, "0-9,0-9": 10,
	} {
		if got := indexCount(text, 10); got != want {
			t.Errorf("%q has %d indexes, want %d", text, got, want)
		}
	}
}
