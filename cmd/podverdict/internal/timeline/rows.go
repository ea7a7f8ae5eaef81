package timeline

import (
	"fmt"
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// rows are the rows of the picture: one for each index, or for each size indexes.
type rows struct {
	count, size int
	height      float64
	last        int // the highest index
}

func newRows(r *simulation.Result) rows {
	last := 0
	for _, a := range r.Attempts {
		last = max(last, a.Index)
	}
	const tall, most, areas = 40, 120, 40
	indexes := last + 1
	switch {
	case indexes <= tall:
		return rows{indexes, 1, 20, last}
	case indexes <= most:
		return rows{indexes, 1, 9, last}
	}
	size := roundUp((indexes + areas - 1) / areas)
	return rows{(indexes + size - 1) / size, size, 18, last}
}

// roundUp returns the next round number: 1, 2, 5, 10, 20, 50 and so on.
func roundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, times := range []int{2, 5} {
			if n <= unit*times {
				return unit * times
			}
		}
		if n <= unit*10 {
			return unit * 10
		}
	}
}

func (r rows) label(row int, names naming) string {
	if r.size == 1 {
		return names.one(row)
	}
	first := row * r.size
	return fmt.Sprintf("%d-%d", first, min(first+r.size-1, r.last))
}

// bars draws each attempt: how long it was pending, ran, and took to end; and the wait before it.
func (p *picture) bars() {
	ended := map[int]int64{}
	for _, a := range p.result.Attempts {
		y := p.rowTop(a.Index)
		end := a.Ended
		if end < 0 {
			end = p.result.Seconds
		}
		if before, waited := ended[a.Index]; waited && a.Created > before {
			p.addf(`<line class="wait" x1="%s" x2="%s" y1="%s" y2="%[3]s"/>`, pixels(p.x(before)), pixels(p.x(a.Created)), pixels(y+p.rows.height/2))
		}
		ended[a.Index] = end
		p.addf("<g><title>%s</title>", escaped(p.attemptText(a, end)))
		started := a.Started
		if started < 0 {
			started = end
		}
		p.bar("Pending", a.Created, started, y)
		stop := end
		if a.Deleted >= 0 {
			stop = max(a.Deleted, started)
		}
		p.bar(string(a.Fate), started, stop, y)
		p.onBar(a.Because, started, stop, y)
		p.bar("Terminating", stop, end, y)
		p.addf("</g>")
	}
}

// attemptText returns what is shown when the mouse is over an attempt.
func (p *picture) attemptText(a simulation.Attempt, end int64) string {
	fate := string(a.Fate)
	if a.Because != "" {
		fate = a.Because + ": " + fate
	}
	return fmt.Sprintf("%s, attempt %d: %s, %s to %s", p.names.one(a.Index), a.Number, fate, simulation.Clock(a.Created), simulation.Clock(end))
}

// onBar writes what failed on a bar, if there is room for it.
func (p *picture) onBar(because string, from, to int64, y float64) {
	const small, pad = 5.8, 5
	room := p.x(to) - p.x(from) - 2*pad
	if because == "" || p.rows.height < 18 || float64(len([]rune(because)))*small > room {
		return
	}
	p.text(p.x(from)+pad, y+p.rows.height/2+3.8, "on", because)
}

// bar draws a bar that has a length. Short bars have a width that can be seen.
func (p *picture) bar(class string, from, to int64, y float64) {
	if to <= from {
		return
	}
	const thinnest = 1.5
	pad := p.rows.height * 0.15
	top, height := y+pad, p.rows.height-2*pad
	if class == "Pending" {
		top, height = top+height/3, height/3
	}
	p.addf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="1.5"/>`,
		class, pixels(p.x(from)), pixels(top), pixels(max(thinnest, p.x(to)-p.x(from))), pixels(height))
}

// binWidth is that of the columns that areas are made of, in pixels.
const binWidth = 4.0

// areas draws how many pods of a row's indexes ran, over time, coloured by what became of them.
func (p *picture) areas() {
	bins := int((width - marginLeft - marginEnd) / binWidth)
	ran := p.podsPerBin(bins)
	most := 0.0
	for _, row := range ran {
		for bin := range bins {
			sum := 0.0
			for class := range legend {
				sum += row[class*bins+bin]
			}
			most = max(most, sum)
		}
	}
	for row := range p.rows.count {
		p.area(row, ran[row], bins, (p.rows.height-5)/max(most, 1e-9))
	}
}

// podsPerBin returns for each row how many Pods ran on average in each bin, class by class.
func (p *picture) podsPerBin(bins int) [][]float64 {
	length := float64(max(1, p.result.Seconds)) / float64(bins)
	class := map[string]int{}
	for i, l := range legend {
		class[l.class] = i
	}
	ran := make([][]float64, p.rows.count)
	for row := range ran {
		ran[row] = make([]float64, len(legend)*bins)
	}
	for _, a := range p.result.Attempts {
		if a.Started < 0 {
			continue
		}
		from, to := float64(a.Started), float64(a.Ended)
		if a.Ended < 0 {
			to = float64(p.result.Seconds)
		}
		row := ran[a.Index/p.rows.size][class[string(a.Fate)]*bins:]
		for bin := int(from / length); bin < bins && float64(bin)*length < to; bin++ {
			begin := float64(bin) * length
			row[bin] += (min(to, begin+length) - max(from, begin)) / length
		}
	}
	return ran
}

// area draws the columns of a row, stacked, as one path for each class. What failed is at the bottom, and is seen however
// little it is.
func (p *picture) area(row int, ran []float64, bins int, scale float64) {
	const least, leastFailed = 0.05, 1.5
	base := make([]float64, bins)
	for _, class := range stacking() {
		l := legend[class]
		var path strings.Builder
		for bin := range bins {
			height := ran[class*bins+bin] * scale
			if l.failed && height > 0 {
				height = max(height, leastFailed)
			}
			if height < least {
				continue
			}
			y := p.rowTop(row) + p.rows.height - 1 - base[bin]
			fmt.Fprintf(&path, "M%s %sh%sv-%sh-%[3]sz", pixels(marginLeft+float64(bin)*binWidth), pixels(y), pixels(binWidth), pixels(height))
			base[bin] += height
		}
		if path.Len() > 0 {
			p.addf(`<path class="%s" d="%s"/>`, l.class, path.String())
		}
	}
}

// stacking returns the classes from the bottom: those that failed, and then the others.
func stacking() (order []int) {
	for _, failed := range []bool{true, false} {
		for class, l := range legend {
			if l.failed == failed {
				order = append(order, class)
			}
		}
	}
	return order
}
