package timeline

import (
	"strings"

	"github.com/podverdict/podverdict/controller/simulation"
)

// marker is what happens to the Job at a time, written above the rows.
type marker struct {
	at   int64
	text string
	lane int
}

// placeMarkers gives each marker the first lane in which there is room for its text.
func (p *picture) placeMarkers() []marker {
	var markers []marker
	for _, e := range p.result.Events {
		text := markerText(e)
		switch n := len(markers); {
		case text == "":
		case n > 0 && markers[n-1].at == e.Seconds && strings.HasSuffix(text, "Suspended"): // said by what was done to the Job
		case n > 0 && markers[n-1].at == e.Seconds:
			markers[n-1].text += ", " + text
		default:
			markers = append(markers, marker{at: e.Seconds, text: text})
		}
	}
	var ends []float64 // of the last text of each lane
	for i := range markers {
		m := &markers[i]
		m.text = cut(m.text, 60)
		from, to := p.extent(*m)
		for m.lane < len(ends) && ends[m.lane] > from-8 {
			m.lane++
		}
		if m.lane == len(ends) {
			ends = append(ends, 0)
		}
		ends[m.lane] = to
	}
	return markers
}

func markerText(e simulation.Event) string {
	switch {
	case e.Type == simulation.JobChanged:
		return e.Message
	case e.Type != simulation.JobCondition:
		return ""
	case strings.HasPrefix(e.Message, "False, "):
		return "not " + e.Reason
	}
	return e.Reason
}

// extent returns where a marker's text begins and ends: to the left of its line where there is no room to the right.
func (p *picture) extent(m marker) (from, to float64) {
	length := float64(len([]rune(m.text))) * letter
	if from = p.x(m.at) + 4; from+length > width-4 {
		return from - 8 - length, from - 8
	}
	return from, from + length
}

func (p *picture) drawMarkers() {
	for _, m := range p.markers {
		y := headHeight + float64(m.lane+1)*laneHeight
		p.addf(`<line class="marker" x1="%s" x2="%[1]s" y1="%s" y2="%s"/>`, pixels(p.x(m.at)), pixels(y-10), pixels(p.bottom))
		from, to := p.extent(m)
		if from < p.x(m.at) {
			p.text(to, y, "end", m.text)
		} else {
			p.text(from, y, "", m.text)
		}
	}
}
