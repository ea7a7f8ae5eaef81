package upstream

import (
	"context"
	"sync"
)

// blocks is the work of a run, numbered from 0. Each is done by one worker, whole:
// what comes of it depends on its number alone.
type blocks[T any] struct {
	count int64
	do    func(ctx context.Context, block int64) (T, error)
	// add takes the result of a block. It is not called by two workers at a time.
	add func(T)

	mu   sync.Mutex
	next int64
}

// run has workers do the blocks until there are none left, one fails, or ctx is
// done, and returns why it stopped early. Blocks that were begun are finished.
func (b *blocks[T]) run(ctx context.Context, workers int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for range max(1, workers) {
		group.Go(func() {
			if err := b.work(ctx); err != nil {
				stop(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (b *blocks[T]) work(ctx context.Context) error {
	for block, ok := b.take(ctx); ok; block, ok = b.take(ctx) {
		result, err := b.do(context.WithoutCancel(ctx), block)
		if err != nil {
			return err
		}
		b.finish(result)
	}
	return nil
}

func (b *blocks[T]) take(ctx context.Context) (block int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil || b.next >= b.count {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

func (b *blocks[T]) finish(result T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(result)
}
