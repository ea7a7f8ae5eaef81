package gathering

import (
	"iter"
	"runtime"
)

// atOnce is the number of records decoded together.
const atOnce = 128

// decoded holds entries that a separate goroutine decodes. err is the error that follows them.
type decoded struct {
	entries []entry
	err     error
	done    chan struct{}
}

// unpacked decodes records on all cores, ahead of the consumer.
func unpacked(records iter.Seq2[packed, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		inOrder, stop := make(chan *decoded, runtime.GOMAXPROCS(0)), make(chan struct{})
		defer func() {
			close(stop)
			for range inOrder { // wait until the temporary file is no longer read
			}
		}()
		go decodeAhead(records, inOrder, stop)
		for d := range inOrder {
			<-d.done
			for _, e := range d.entries {
				if !yield(e, nil) {
					return
				}
			}
			if d.err != nil {
				yield(entry{}, d.err)
				return
			}
		}
	}
}

func decodeAhead(records iter.Seq2[packed, error], inOrder chan<- *decoded, stop <-chan struct{}) {
	defer close(inOrder)
	var some []packed
	send := func(err error) (goOn bool) {
		d := &decoded{err: err, done: make(chan struct{})}
		select {
		case <-stop:
			return false
		case inOrder <- d:
		}
		go d.decode(some)
		some = make([]packed, 0, atOnce)
		return true
	}
	for p, err := range records {
		if err != nil {
			send(err)
			return
		}
		if some = append(some, p); len(some) == atOnce && !send(nil) {
			return
		}
	}
	send(nil)
}

func (d *decoded) decode(some []packed) {
	defer close(d.done)
	d.entries = make([]entry, 0, len(some))
	for _, p := range some {
		e, err := p.entry()
		if err != nil {
			d.err = err
			return
		}
		d.entries = append(d.entries, e)
	}
}
