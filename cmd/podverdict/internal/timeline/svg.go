package timeline

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// Sizes of the picture, in pixels.
const (
	width      = 1000.0
	marginLeft = 110.0
	marginEnd  = 30.0
	headHeight = 58.0
	laneHeight = 15.0
	axisHeight = 30.0
	legendRow  = 22.0
	margin     = 16.0
	letter     = 6.6 // a character of the text
)

// style sets a background, so that the picture can be read on a light and on a dark page.
const style = `
  text { font: 12px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #24292f }
  .title { font-size: 17px; font-weight: 600 }
  .quiet { fill: #57606a } .on { font-size: 10.5px; fill: #ffffff; pointer-events: none }
  .end { text-anchor: end } .middle { text-anchor: middle }
  .page { fill: #ffffff } .stripe { fill: #f3f5f7 }
  .grid { stroke: #d8dee4 } .marker { stroke: #24292f; stroke-dasharray: 4 3 }
  .wait { stroke: #8c959f; stroke-width: 1.5; stroke-dasharray: 1.5 3 }
  .Pending { fill: #c3cad2 } .Terminating { fill: #59636e }
  .Succeeded { fill: #2da05f } .Running { fill: #3f8fd6 } .Stopped { fill: #8c959f }
  .Count { fill: #e8833a } .Restarted { fill: #d9a514 } .Ignore { fill: #9b78dd } .FailIndex { fill: #e0505c } .FailJob { fill: #c2187a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9aa4af } .page { fill: #0d1117 } .stripe { fill: #161b22 }
    .grid { stroke: #30363d } .marker { stroke: #e6edf3 } .Pending { fill: #4b545e } .Stopped { fill: #77818c } .Terminating { fill: #a5b0bb }
  }
`

// legend has the classes of bars, in their order, with what they mean.
var legend = []struct {
	class, means string
	failed       bool
}{
	{class: "Pending", means: "pending"},
	{class: string(simulation.FateSucceeded), means: "succeeded"},
	{string(simulation.FateCounted), "failed, counted", true},
	{string(simulation.FateRestarted), "failed, restarted in place", true},
	{string(simulation.FateIgnored), "failed, ignored", true},
	{string(simulation.FateFailIndex), "failed its index", true},
	{string(simulation.FateFailJob), "failed the Job", true},
	{class: string(simulation.FateStopped), means: "stopped"},
	{class: "Terminating", means: "terminating"},
	{class: string(simulation.FateUnknown), means: "running at the end"},
}

// picture is an SVG that is being drawn.
type picture struct {
	strings.Builder

	result  *simulation.Result
	markers []marker
	top     float64 // of the rows
	bottom  float64
	rows    rows
	names   naming
}

// WriteSVG draws the attempts of all indexes over time. Large Jobs have a row for several indexes.
func WriteSVG(w io.Writer, r *simulation.Result) error {
	p := &picture{result: r, rows: newRows(r), names: newNaming(r)}
	p.markers = p.placeMarkers()
	lanes := 0
	for _, m := range p.markers {
		lanes = max(lanes, m.lane+1)
	}
	p.top = headHeight + float64(lanes)*laneHeight + 8
	p.bottom = p.top + p.rows.height*float64(p.rows.count)
	classes := p.classes()
	height := p.bottom + axisHeight + legendRow*float64((len(classes)+3)/4) + 10
	p.addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img">`, pixels(width), pixels(height))
	p.addf("<title>%s</title>", escaped("Job "+r.Namespace+"/"+r.Name+": "+headline(r)))
	p.addf("<style>%s</style>", style)
	p.addf(`<rect class="page" width="100%%" height="100%%"/>`)
	p.head()
	p.axis()
	p.labels()
	if p.rows.size == 1 {
		p.bars()
	} else {
		p.areas()
	}
	p.drawMarkers()
	p.explain(classes)
	p.addf("</svg>")
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *picture) addf(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// text draws a text, which may have names in it that nobody has checked.
func (p *picture) text(x, y float64, class, text string) {
	p.addf(`<text x="%s" y="%s" class="%s">%s</text>`, pixels(x), pixels(y), class, escaped(text))
}

// x returns where a time is drawn.
func (p *picture) x(seconds int64) float64 {
	return marginLeft + float64(seconds)/float64(max(1, p.result.Seconds))*(width-marginLeft-marginEnd)
}

func (p *picture) head() {
	r := p.result
	p.text(margin, 28, "title", p.title())
	counts := fmt.Sprintf("%s%s, pod time %s", times(r.Summary.Pods, "pod", "pods"), p.names.count(r.Indexes), simulation.Clock(r.Summary.PodSeconds))
	if verdicts := verdictCounts(r.Summary.Verdicts); verdicts != "" {
		counts += ", verdicts: " + verdicts
	}
	p.text(margin, 48, "quiet", cut(counts, fitting(letter)))
}

// fitting returns the number of characters of a size that fit between the margins.
func fitting(size float64) int { return int((width - 2*margin) / size) }

// title names the Job and how it ended. A long name is cut in its middle: names differ at the end.
func (p *picture) title() string {
	const bold = 11.4 // a character, in a wide font
	job, end := []rune("Job "+p.result.Namespace+"/"+p.result.Name), cut(": "+headline(p.result), 50)
	most := fitting(bold) - len([]rune(end))
	if len(job) <= most {
		return string(job) + end
	}
	tail := most / 2
	return string(job[:most-tail-1]) + "…" + string(job[len(job)-tail:]) + end
}

func headline(r *simulation.Result) string {
	text := r.Outcome + " after " + simulation.Clock(r.Seconds)
	if r.Reason != "" {
		text += ", " + r.Reason
	}
	return text
}

// axis draws the stripes of the rows and the times.
func (p *picture) axis() {
	right := width - marginEnd
	for i := 0; i < p.rows.count; i += 2 {
		p.addf(`<rect class="stripe" x="%s" y="%s" width="%s" height="%s"/>`,
			pixels(marginLeft), pixels(p.rowTop(i)), pixels(right-marginLeft), pixels(p.rows.height))
	}
	const ticks = 10
	every := step(p.result.Seconds, ticks)
	for at := int64(0); at <= p.result.Seconds; at += every {
		p.addf(`<line class="grid" x1="%s" x2="%[1]s" y1="%s" y2="%s"/>`, pixels(p.x(at)), pixels(p.top), pixels(p.bottom+4))
		p.text(p.x(at), p.bottom+18, "quiet middle", simulation.Clock(at))
	}
}

func (p *picture) rowTop(row int) float64 { return p.top + float64(row)*p.rows.height }

func (p *picture) labels() {
	const apart = 13.0
	every := max(1, int(apart/p.rows.height+0.99))
	for i := 0; i < p.rows.count; i += every {
		p.text(marginLeft-8, p.rowTop(i)+p.rows.height/2+4, "quiet end", p.rows.label(i, p.names))
	}
}

// explain draws the legend of the classes.
func (p *picture) explain(classes []int) {
	const perRow, column = 4, 220
	for i, c := range classes {
		x := marginLeft + float64(i%perRow*column)
		y := p.bottom + axisHeight + float64(i/perRow)*legendRow
		p.addf(`<rect class="%s" x="%s" y="%s" width="12" height="12" rx="2"/>`, legend[c].class, pixels(x), pixels(y))
		p.text(x+18, y+10, "", legend[c].means)
	}
}

// classes returns the classes of the legend that the picture has.
func (p *picture) classes() []int {
	present := map[string]bool{}
	for _, a := range p.result.Attempts {
		if a.Started >= 0 {
			present[string(a.Fate)] = true
		}
		if p.rows.size == 1 {
			present["Pending"] = present["Pending"] || a.Started != a.Created
			present["Terminating"] = present["Terminating"] || a.Started >= 0 && a.Deleted >= 0 && a.Deleted != a.Ended
		}
	}
	var classes []int
	for i, l := range legend {
		if present[l.class] {
			classes = append(classes, i)
		}
	}
	return classes
}

func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return ""
	}
	return b.String()
}

// cut shortens a text that is too long.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// pixels returns a length, to a tenth of a pixel.
func pixels(length float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(length, 'f', 1, 64), ".0")
}
