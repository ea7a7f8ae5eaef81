package generators_test

import (
	"context"
	"fmt"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/internal/testing/generators"
)

// Two engines are compared on random policies and pods.
func ExamplePairs() {
	cel := conformance.CEL()
	pairs := generators.NewPairs(1, false)
	for range 100 {
		request := conformance.Request{Policy: pairs.Policy(), Pod: pairs.Pod()}
		want, _ := conformance.Go(context.Background(), request)
		if got, err := cel(context.Background(), request); err != nil || !got.Equal(want) {
			fmt.Println("they disagree:", got, want, err)
		}
	}
	fmt.Println("compared")
	// Output: compared
}
