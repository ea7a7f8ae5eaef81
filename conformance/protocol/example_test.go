package protocol_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/conformance/protocol"
)

func ExampleServe() {
	requests := strings.NewReader(`{"id":"1","op":"verdict","pod":{"status":{"phase":"Running"}}}
{"id":"2","op":"verdict","policy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]},` +
		`"pod":{"metadata":{"name":"p","namespace":"n"},"status":{"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True"}]}}}
{"id":"3","op":"guess"}
`)
	if err := protocol.Serve(context.Background(), requests, os.Stdout, conformance.Go); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"id":"1","verdict":{"terminal":false,"matched":false,"counted":false}}
	// {"id":"2","verdict":{"terminal":true,"matched":true,"action":"Ignore","counted":false,"rule":0,"condition":"DisruptionTarget","message":"Pod n/p has condition DisruptionTarget matching Ignore rule at index 0"}}
	// {"id":"3","error":"unknown op \"guess\": want verdict or validate"}
}
