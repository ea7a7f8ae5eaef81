package gathering

import "iter"

// aheadPods is how many Pods are read ahead together.
const aheadPods = 512

// result is what a loop over families gets.
type result struct {
	family Family
	err    error
}

// ahead reads families ahead in another goroutine, so that some are decoded while earlier ones are judged. The goroutine has ended when
// the loop over the result ends.
func ahead(families iter.Seq2[Family, error]) iter.Seq2[Family, error] {
	return func(yield func(Family, error) bool) {
		batches, stop := make(chan []result), make(chan struct{})
		go send(families, batches, stop)
		defer func() {
			close(stop)
			for range batches { // until the goroutine has ended
			}
		}()
		for batch := range batches {
			for _, r := range batch {
				if !yield(r.family, r.err) {
					return
				}
			}
		}
	}
}

// send sends families in batches, which it closes when there are no more, or when stop is closed.
func send(families iter.Seq2[Family, error], batches chan<- []result, stop <-chan struct{}) {
	defer close(batches)
	var batch []result
	pods := 0
	for f, err := range families {
		batch = append(batch, result{f, err})
		if pods += max(1, len(f.Pods)); pods < aheadPods {
			continue
		}
		select {
		case batches <- batch:
			batch, pods = nil, 0
		case <-stop:
			return
		}
	}
	select {
	case batches <- batch:
	case <-stop:
	}
}
