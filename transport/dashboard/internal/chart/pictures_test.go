package chart_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

// pictures returns the pictures of the golden files by name.
func pictures() map[string]picture {
	gap := math.NaN()
	return map[string]picture{
		"lines": chart.Lines{ID: "lines", Title: "Time to answer", Unit: "ms", Series: []chart.Series{
			{Name: "Median", Points: points(210, 230, 222, 260, 300, 280, gap, 240, 235, 220, 215, 212)},
			{Name: "95th percentile <b>", Points: points(410, 480, 455, 620, 910, 840, gap, 510, 505, 470, 430, 425)},
			{Name: "A name that is much too long for the legend of the picture", Points: points(120, gap, 150, 140, 160, 170, 160, 150, 140)},
		}},
		"lines-zero":  chart.Lines{ID: "lines-zero", Title: "Failures", Series: []chart.Series{{Name: "Failed", Points: points(0, 0, 0)}}},
		"lines-point": chart.Lines{ID: "lines-point", Title: "Load", Series: []chart.Series{{Points: points(0.35)}}},
		"lines-empty": chart.Lines{ID: "lines-empty", Title: "Load"},
		"bars": chart.Bars{ID: "bars", Title: "Calls per hour", Unit: "calls", Start: start.Add(-12 * time.Hour), Series: []chart.BarSeries{
			{Name: "Answered", Values: []float64{2, 0, 0, 1, 4, 9, 14, 18, 22, 25, 19, 17, 21, 24, 26, 18, 12, 9, 6, 4, 3, 2, 1, 1}},
			{Name: "No answer", Values: []float64{1, 0, 0, 0, 1, 2, 3, 5, 4, 6, 5, 3, 4, 6, 5, 4, 2, 2, 1, 1, 0, 1, 0, 0}},
			{Name: "Failed", Values: []float64{0, 0, 0, 0, 0, 1, 0, 2, 7, 3, 1, 0, gap, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}},
		}},
		"sparkline":   chart.Sparkline{ID: "sparkline", Title: "Calls", Values: []float64{3, 5, 4, 8, 6, gap, 9, 12, 7, 10}},
		"ladder":      ladder(),
		"waveform":    waveform(2000),
		"lanes":       lanes(),
		"lanes-empty": chart.Lanes{ID: "lanes-empty", Title: "Conversation"},
		"graph":       graph(pathway()),
		"timeline":    timeline(),
		"sankey":      sankey(),
		"strip-merged": chart.Strip{ID: "strip-merged", Title: "Last days", Start: start, Cells: slices.Repeat(append(append(
			cells(chart.Good, 4), cells(chart.Unknown, 2)...), cells(chart.Bad, 1)...), 60)},
		"graph-view": func() picture {
			g := pathway()
			g.ID, g.View = "graph-view", chart.ViewBox{X: 40, Y: 100, W: 300, H: 220}
			return graph(g)
		}(),
		"graph-shade": func() picture {
			g := pathway()
			g.ID, g.Title = "graph-shade", "Failed runs by node"
			for i := range g.Nodes {
				g.Nodes[i].Shade, g.Nodes[i].Note = float64(i)/6, fmt.Sprintf("%d of 6 failed here", i)
			}
			return graph(g)
		}(),
		"graph-empty": graph{ID: "graph-empty", Title: "Pathway"},
		"strip": chart.Strip{ID: "strip", Title: "Last day", Start: start, Step: 30 * time.Minute, Cells: append(append(
			cells(chart.Good, 20), cells(chart.Warn, 3)...), append(append(cells(chart.Bad, 2), cells(chart.Good, 15)...), cells(chart.Unknown, 8)...)...)},
	}
}

// pathway returns the graph of a small pathway with cycles, a long edge, an edge from a node to itself, and an edge to a node that does not
// exist.
func pathway() chart.Graph {
	return chart.Graph{ID: "graph", Title: "Pathway", Nodes: []chart.Node{
		{ID: "start", Label: "Greet the caller", Kind: "start", Href: "?node=start"},
		{ID: "who", Label: "Ask for the name and the date of birth of the insured person", Kind: "question", Selected: true, Href: "?node=who"},
		{ID: "check", Label: "Look up the contract", Kind: "webhook"},
		{ID: "claim", Label: "Take the claim", Kind: "question"},
		{ID: "date", Label: "Offer an appointment", Kind: "question"},
		{ID: "human", Label: "Transfer to a person", Kind: "transfer"},
		{ID: "bye", Label: "Say goodbye", Kind: "end"},
	}, Edges: []chart.Edge{
		{From: "start", To: "who", Label: "says what it is about"}, {From: "start", To: "human", Label: "wants a person"},
		{From: "who", To: "who", Label: "unclear"}, {From: "who", To: "check"},
		{From: "check", To: "who", Label: "not found"}, {From: "check", To: "claim", Label: "claim"},
		{From: "check", To: "date", Label: "appointment"}, {From: "check", To: "human", Label: "<error>"},
		{From: "claim", To: "bye"}, {From: "date", To: "bye"}, {From: "claim", To: "date", Label: "also a date"},
		{From: "start", To: "bye", Label: "wrong number"}, {From: "bye", To: "start", Label: "something else"}, {From: "bye", To: "nowhere"},
	}}
}

// sankey returns a diagram of the results of calls.
func sankey() chart.Sankey {
	return chart.Sankey{ID: "sankey", Title: "Ways of calls", Unit: "calls", Stages: []chart.Stage{
		{ID: "all", Label: "Started"}, {ID: "claim", Label: "Take the claim"}, {ID: "date", Label: "Offer an appointment on another day"},
		{ID: "done", Label: "Done"}, {ID: "human", Label: "Transferred"}, {ID: "lost", Label: "Hung up <early>"},
	}, Flows: []chart.Flow{
		{From: "all", To: "claim", Weight: 60}, {From: "all", To: "date", Weight: 30}, {From: "all", To: "lost", Weight: 10},
		{From: "claim", To: "done", Weight: 45}, {From: "claim", To: "human", Weight: 15}, {From: "date", To: "done", Weight: 25},
		{From: "date", To: "lost", Weight: 5}, {From: "done", To: "claim", Weight: 4}, {From: "done", To: "done", Weight: 3},
	}}
}

// timeline returns the events of a port request.
func timeline() chart.Timeline {
	at := func(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }
	return chart.Timeline{ID: "timeline", Title: "Port request", Events: []chart.Event{
		{At: at(30), Label: "Asks for the account number that stands on the last bill of the subscriber", State: chart.Warn},
		{At: at(0), Label: "Submitted"}, {At: at(54), Label: "Account number corrected"},
		{At: at(80), Label: "Rejected: <wrong PIN>", State: chart.Bad}, {At: at(200), Label: "Number is ours", State: chart.Good},
	}}
}

// ladder returns a call that a busy server refuses and another server answers.
func ladder() chart.Ladder {
	return chart.Ladder{ID: "ladder", Title: "SIP messages", Participants: []string{"callwright", "sip1.example.com:5061", "sip2"}, Messages: []chart.Message{
		{From: 0, To: 1, Label: "INVITE", Href: "#message-1"}, {From: 1, To: 0, At: 40 * time.Millisecond, Label: "100 Trying"},
		{From: 1, To: 0, At: 300 * time.Millisecond, Label: "503 Service Unavailable", Failed: true, Href: "#message-3"},
		{From: 0, To: 0, At: 310 * time.Millisecond, Label: "tries the next server"},
		{From: 0, To: 2, At: 320 * time.Millisecond, Label: "INVITE"}, {From: 2, To: 0, At: 75 * time.Second, Label: "200 OK"},
	}}
}

// waveform returns a recording with n peaks per channel.
func waveform(n int) chart.Waveform {
	channels := []chart.Channel{{Name: "Caller"}, {Name: "Agent"}}
	for i := range n {
		v := math.Abs(math.Sin(float64(i)/9)) * math.Max(0, math.Sin(float64(i)/150))
		channels[0].Peaks = append(channels[0].Peaks, v)
		channels[1].Peaks = append(channels[1].Peaks, math.Max(0, 0.8-2*v)*math.Abs(math.Cos(float64(i)/7)))
	}
	return chart.Waveform{ID: "waveform", Title: "Recording", Duration: 83 * time.Second, Channels: channels, Regions: []chart.Region{
		{Channel: 1, Start: time.Second, End: 9 * time.Second, Label: "Hello.", Href: "#line-1"},
		{Channel: 0, Start: 10 * time.Second, End: 30 * time.Second, Label: "I want a refund.", Href: "#line-2"},
	}}
}

// lanes returns a conversation with every kind of mark, a row without utterances, and an utterance in two rows.
func lanes() chart.Lanes {
	const ms = time.Millisecond
	said := func(lane, start, end int, text string, marks ...chart.Mark) chart.Utterance {
		return chart.Utterance{
			Lane: lane, Shape: chart.LaneWords, Start: time.Duration(start) * ms, End: time.Duration(end) * ms, Text: text, Href: fmt.Sprint("#line-", start), Marks: marks,
		}
	}
	mark := func(kind chart.LaneMark, start, end int, note string) chart.Mark {
		return chart.Mark{Kind: kind, Start: time.Duration(start) * ms, End: time.Duration(end) * ms, Note: note}
	}
	aside, key, action := said(0, 21500, 22100, "Uh-huh."), said(0, 97000, 97000, "pressed 1"), said(1, 98500, 99000, "transferred the call")
	aside.Shape, action.Shape = chart.LaneAside, chart.LaneAction
	return chart.Lanes{ID: "lanes", Title: "Conversation", Names: [2]string{"Other side", "Agent"}, Row: 30 * time.Second, Utterances: []chart.Utterance{
		said(1, 400, 4200, "Good morning, this is the practice of Doctor Hill. How can I help?"),
		said(0, 5000, 9100, "My number is, um, four one five, <five> six", mark(chart.MarkWait, 9100, 9900, "the turn was over after 800 ms")),
		said(1, 10300, 13000, "Thank you. One moment.", mark(chart.MarkThought, 9900, 10300, "answered 1.2 s after the last word"),
			mark(chart.MarkWithdrawn, 7000, 0, "begun early at 0:07.0 and withdrawn"), mark(chart.MarkBegun, 9400, 0, "begun early at 0:09.4")),
		said(1, 15000, 34000, "Our rooms are open from eight in the morning until six in the evening on every day from Monday to Friday.",
			mark(chart.MarkHold, 21700, 22800, "held at 0:21.7"), mark(chart.MarkCut, 34000, 0, "interrupted at 0:34.0")),
		aside,
		said(0, 33600, 36000, "Wait, stop please.", mark(chart.MarkWait, 36000, 36400, "the turn was over after 400 ms")),
		key, action,
	}}
}

// cells returns n cells with a state.
func cells(s chart.State, n int) []chart.Cell {
	all := make([]chart.Cell, n)
	for i := range all {
		all[i] = chart.Cell{State: s, Note: "12 probes"}
	}
	return all
}

// hostile returns pictures of every type, with at most n elements of each kind. Their texts are the given text or contain it, and their
// numbers derive from v.
func hostile(text string, v float64, n int) []picture {
	values := make([]float64, n)
	for i := range values {
		values[i] = v * float64(i%3)
	}
	at := time.Unix(int64(max(-9e18, min(9e18, v))), 0)
	span := time.Duration(max(-9e18, min(9e18, v)))
	shown := points(values...)
	for i := range shown {
		if i%2 == 0 {
			shown[i].At = at
		}
	}
	series := make([]chart.Series, min(n, 8))
	bars := make([]chart.BarSeries, min(n, 8))
	for i := range series {
		series[i] = chart.Series{Name: text, Points: shown}
		bars[i] = chart.BarSeries{Name: text, Values: values}
	}
	strip := cells(chart.State(text), n)
	for i := range strip {
		strip[i].Note = text
	}
	few := min(n, 60)
	nodes, edges := make([]chart.Node, few), make([]chart.Edge, few)
	for i := range few {
		id := fmt.Sprint(i, text)
		nodes[i] = chart.Node{ID: id, Label: text, Kind: text, Note: text, Shade: v, Selected: i%2 == 0, Href: text}
		edges[i] = chart.Edge{From: id, To: fmt.Sprint(i*i%few, text), Label: text}
	}
	messages, regions, utterances := make([]chart.Message, n), make([]chart.Region, n), make([]chart.Utterance, n)
	for i := range n {
		kind := []chart.LaneMark{chart.MarkWait, chart.MarkThought, chart.MarkHold, chart.MarkCut, chart.MarkBegun, chart.MarkWithdrawn, chart.MarkFailure, chart.LaneMark(text)}[i%8]
		utterances[i] = chart.Utterance{
			Lane: i%4 - 1, Shape: []chart.LaneShape{chart.LaneWords, chart.LaneAside, chart.LaneAction, chart.LaneShape(text)}[i%4], Start: span / 2, End: span, Text: text,
			Href: text, Marks: slices.Repeat([]chart.Mark{{Kind: kind, Start: span / 3, End: span, Note: text}, {Kind: kind, Start: span, End: -span}}, i%3),
		}
		messages[i] = chart.Message{From: i%10 - 1, To: i % 3, At: span, Label: text, Failed: i%2 == 0, Href: text}
		regions[i] = chart.Region{Channel: i%4 - 1, Start: span / 2, End: span, Label: text, Href: text}
	}
	stages, flows := make([]chart.Stage, few), make([]chart.Flow, few)
	for i := range few {
		stages[i] = chart.Stage{ID: nodes[i].ID, Label: text}
		flows[i] = chart.Flow{From: edges[i].From, To: edges[i].To, Weight: v}
	}
	events := make([]chart.Event, n)
	for i := range events {
		events[i] = chart.Event{At: at, Label: text, State: chart.State(text)}
	}
	return []picture{
		chart.Lanes{ID: text, Title: text, Names: [2]string{text, text}, Row: span, Utterances: utterances},
		chart.Lanes{ID: text, Title: text, Row: time.Second, Utterances: utterances},
		chart.Sankey{ID: text, Title: text, Unit: text, Stages: stages, Flows: flows},
		chart.Timeline{ID: text, Title: text, Events: events},
		graph{ID: text, Title: text, Nodes: nodes, Edges: edges},
		graph{ID: text, Title: text, Nodes: nodes, Edges: edges, View: chart.ViewBox{X: v, Y: 50, W: 300, H: v}},
		chart.Ladder{ID: text, Title: text, Participants: []string{text, text, "c", "d", "e", "f", "g", "h", "i"}, Messages: messages},
		chart.Waveform{ID: text, Title: text, Duration: span, Channels: []chart.Channel{{Name: text, Peaks: values}, {}}, Regions: regions},
		chart.Lines{ID: text, Title: text, Unit: text, Series: series},
		chart.Bars{ID: text, Title: text, Unit: text, Start: at, Step: span, Series: bars},
		chart.Sparkline{ID: text, Title: text, Unit: text, Values: values},
		chart.Strip{ID: text, Title: text, Start: at, Step: span, Cells: strip},
	}
}
