package chart

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	maxRegions = 1000
	maxPeaks   = 480
	maxPeaksIn = 1_000_000
)

// Channel contains the peaks of one side of a recording.
type Channel struct {
	Name  string
	Peaks []float64 // from 0 to 1, at equal intervals
}

// Region is the part of a recording in which a line of the transcript is spoken.
type Region struct {
	Channel    int // index of the channel; regions of other channels are omitted
	Start, End time.Duration
	Label      string // beginning of the spoken text
	Href       string // link to the line, such as "#line-3"
}

// Waveform shows the two channels of a recording as mirrored peaks, and the lines of the transcript as links with data-start and data-end
// in milliseconds. It reads up to 1,000,000 peaks per channel, and draws the maximum of each of 480 groups. It shows the first 1,000
// regions.
type Waveform struct {
	ID, Title string
	Duration  time.Duration
	Channels  []Channel // the first two are shown
	Regions   []Region
}

// SVG returns the waveform, with one channel below the other.
func (w Waveform) SVG() template.HTML {
	const top, height, x0, room = 4.0, 84.0, 4.0, width - 8
	p := newPen(w.ID)
	channels := head(w.Channels, 2)
	if len(channels) == 0 || w.Duration <= 0 {
		return p.none("waveform", w.Title, "No recording yet.", 80)
	}
	said := []string{fmt.Sprintf("%s long.", offset(w.Duration))}
	for i, c := range channels {
		y := top + height*float64(i)
		name := seriesName(c.Name, i)
		p.text(x0, y+14, "label small halo", name, room)
		p.shape("line", "grid", "x1", x0, "y1", y+50, "x2", x0+room, "y2", y+50)
		heights := greatest(head(c.Peaks, maxPeaksIn), maxPeaks)
		if len(heights) > 0 {
			p.shape("path", "wave "+colour(i), "d", mirrored(heights, x0, room, y+50, 30))
		}
		said = append(said, fmt.Sprintf("%s: %s.", name, counted(len(c.Peaks), "peak")))
	}
	drawn := 0
	at := func(d time.Duration) float64 { return x0 + max(0, min(1, float64(d)/float64(w.Duration)))*room }
	for _, r := range head(w.Regions, maxRegions) {
		if r.Channel < 0 || r.Channel >= len(channels) || r.End < r.Start {
			continue
		}
		drawn++
		tag := p.begin(r.Href, "", offset(r.Start)+" "+clean(r.Label), "data-start", strconv.FormatInt(r.Start.Milliseconds(), 10),
			"data-end", strconv.FormatInt(r.End.Milliseconds(), 10))
		p.shape("rect", "region", "x", at(r.Start), "y", top+height*float64(r.Channel)+18, "width", max(2, at(r.End)-at(r.Start)), "height", 64.0)
		p.end(tag)
	}
	bottom := top + height*float64(len(channels))
	words := offset
	if w.Duration >= time.Minute {
		words = minutes
	}
	for i, anchor := range []string{"", " mid", " end"} {
		d := w.Duration / 2 * time.Duration(i)
		p.text(x0+room*float64(i)/2, bottom+16, "axis small"+anchor, words(d), room)
	}
	said = append(said, fmt.Sprintf("Marked: %s of the transcript.", counted(drawn, "line")))
	return p.svg("waveform", w.Title, ViewBox{W: width, H: bottom + 22}, leftOut(said, "line", len(w.Regions), drawn))
}

// greatest divides the peaks into groups, at most the given number, and returns the maximum of each group, limited to 0 to 1.
func greatest(peaks []float64, most int) []float64 {
	groups := min(len(peaks), most)
	all := make([]float64, groups)
	for g := range groups {
		for _, v := range peaks[g*len(peaks)/groups : (g+1)*len(peaks)/groups] {
			if !math.IsNaN(v) {
				all[g] = max(all[g], min(1, v))
			}
		}
	}
	return all
}

// mirrored returns the path data of an outline that is symmetric about the horizontal line at y.
func mirrored(heights []float64, x0, room, y, half float64) string {
	var d path
	step := room / float64(len(heights))
	d.add("M", x0, y)
	for i, v := range heights {
		d.add("L", x0+step*(float64(i)+0.5), y-max(0.5, v*half))
	}
	d.add("L", x0+room, y)
	for i, v := range slices.Backward(heights) {
		d.add("L", x0+step*(float64(i)+0.5), y+max(0.5, v*half))
	}
	return d.add("Z").String()
}
