package enginetest

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// encoded returns the audio of a part as base64.
func (s *served) encoded(k chunk) string {
	text := base64.StdEncoding.EncodeToString(k.audio)
	if s.fault == VoiceFaultBase64 {
		return text[:len(text)-1] + "!"
	}
	return text
}

// text returns a member that is a string, or "".
func text(m map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := m[name].(string); ok {
			return s
		}
	}
	return ""
}

// elevenLabs handles a message of multi-stream-input. Times are relative to the part.
func (s *served) elevenLabs(ctx context.Context, m map[string]any) bool {
	id := text(m, "context_id", "contextId")
	if m["close_socket"] == true {
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
		return false
	}
	begins := s.contexts[id] == nil
	c := s.context(id)
	if settings, ok := m["voice_settings"].(map[string]any); ok && begins {
		if speed, ok := settings["speed"].(float64); ok {
			c.speed = speed
		}
	}
	refuse := func() bool {
		s.send(ctx, map[string]any{"message": "the quota of " + s.Key + " is used up", "error": "quota_exceeded", "code": 1008})
		_ = s.conn.Close(websocket.StatusPolicyViolation, "quota_exceeded")
		return false
	}
	if begins && text(m, "text") != " " || c.speed < 0.7 || c.speed > 1.2 {
		return refuse()
	}
	millis := 40 / c.speed
	send := func(k chunk) bool {
		chars, starts, durations := []string{}, []float64{}, []float64{}
		for i, r := range k.chars {
			chars = append(chars, string(r))
			starts, durations = append(starts, float64(i)*millis), append(durations, millis)
		}
		alignment := map[string]any{"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}
		if !s.send(ctx, map[string]any{
			"audio": s.encoded(k), "isFinal": nil, "contextId": id, "alignment": alignment, "normalizedAlignment": alignment,
		}) {
			return false
		}
		if s.fault != VoiceFaultMarks {
			return true
		}
		slices.Reverse(starts)
		return s.send(ctx, map[string]any{"audio": nil, "contextId": id, "alignment": alignment})
	}
	if said := text(m, "text"); said != " " {
		c.text += said
	}
	closes := m["close_context"] == true
	if (m["flush"] == true || closes) && strings.TrimSpace(c.text) != "" && !s.speak(c, send, refuse) {
		return false
	}
	if closes {
		s.cancel(c, send)
		delete(s.contexts, id)
		final := "isFinal"
		if s.fault == VoiceFaultMarks {
			final = "is_final" // the vendor's types have both names
		}
		return s.send(ctx, map[string]any{final: true, "contextId": id})
	}
	return true
}

// cartesia handles a message of tts/websocket. Times are relative to the context.
func (s *served) cartesia(ctx context.Context, m map[string]any) bool {
	id := text(m, "context_id")
	message := func(kind string, more map[string]any) map[string]any {
		out := map[string]any{"type": kind, "context_id": id, "status_code": 206, "done": false}
		maps.Copy(out, more)
		return out
	}
	c := s.context(id)
	refuse := func() bool {
		return s.send(ctx, map[string]any{
			"type": "error", "context_id": id, "status_code": 429, "done": true, "error_code": "concurrency_limited",
			"title": "Too many", "message": "the key " + s.Key + " has too many contexts", "request_id": "r",
		})
	}
	send := func(k chunk) bool {
		return s.send(ctx, message("chunk", map[string]any{"data": s.encoded(k), "step_time": 1.5, "flush_id": c.flushes + 1}))
	}
	if m["cancel"] == true {
		s.cancel(c, send)
		delete(s.contexts, id)
		return true
	}
	format, _ := m["output_format"].(map[string]any)
	s.muLaw = format["encoding"] == "pcm_mulaw"
	rate, _ := format["sample_rate"].(float64)
	s.rate = int(rate)
	if generation, ok := m["generation_config"].(map[string]any); ok {
		c.speed, _ = generation["speed"].(float64)
	}
	if id == "" || text(m, "model_id") == "" || text(m, "voice") == "" || format["container"] != "raw" || s.rate == 0 || c.speed < 0.6 || c.speed > 1.5 {
		return s.send(ctx, map[string]any{"type": "error", "status_code": 400, "title": "Bad request", "message": "a member is missing", "done": true})
	}
	c.text = text(m, "transcript")
	at := c.samples
	said := []rune(c.text)
	if c.text != "" && !s.speak(c, send, refuse) {
		return false
	}
	if len(said) > 0 && s.fault == "" || s.fault == VoiceFaultMarks || s.fault == VoiceFaultOdd {
		words := s.wordsOf(said, at, c.speed)
		s.send(ctx, message("timestamps", words))
		if s.fault == VoiceFaultMarks {
			times := words["word_timestamps"].(map[string]any) //nolint:forcetypeassert // made above
			slices.Reverse(times["words"].([]string))          //nolint:forcetypeassert // made above
			s.send(ctx, message("timestamps", words))
		}
	}
	if m["flush"] == true && s.fault != VoiceFaultSilent && s.fault != VoiceFaultLate {
		c.flushes++
		s.send(ctx, message("flush_done", map[string]any{"flush_id": c.flushes, "flush_done": true}))
	}
	if m["continue"] != true && s.fault != VoiceFaultSilent {
		delete(s.contexts, id)
		return s.send(ctx, message("done", map[string]any{"done": true, "status_code": 200}))
	}
	return true
}

// wordsOf returns the places of the words of a text that begins at a sample of a context.
func (s *served) wordsOf(said []rune, at int, speed float64) map[string]any {
	words, starts, ends := []string{}, []float64{}, []float64{}
	open := false
	for i, r := range said {
		if r == ' ' || r == '\n' || r == '\t' {
			open = false
			continue
		}
		start := float64(at)/float64(s.rate) + float64(i)*0.04/speed
		if !open {
			words, starts, ends = append(words, ""), append(starts, start), append(ends, 0)
		}
		open = true
		words[len(words)-1] += string(r)
		ends[len(ends)-1] = start + 0.04/speed
	}
	return map[string]any{"word_timestamps": map[string]any{"words": words, "start": starts, "end": ends}}
}

// deepgram handles a message of speak v1.
func (s *served) deepgram(ctx context.Context, m map[string]any) bool {
	c := s.context("")
	send := func(k chunk) bool { return s.conn.Write(ctx, websocket.MessageBinary, k.audio) == nil }
	refuse := func() bool {
		return s.send(ctx, map[string]any{"type": "Error", "code": "DATA-0000", "description": "the key " + s.Key})
	}
	s.sequence++
	switch text(m, "type") {
	case "Speak":
		c.text += text(m, "text")
	case "Flush":
		if !s.speak(c, send, refuse) {
			return false
		}
		if s.fault == VoiceFaultSilent || s.fault == VoiceFaultLate {
			return true
		}
		return s.send(ctx, map[string]any{"type": "Flushed", "sequence_id": s.sequence})
	case "Clear":
		c.text = ""
		s.cancel(c, send)
		if s.fault == VoiceFaultLate {
			s.fault = ""
		}
		return s.send(ctx, map[string]any{"type": "Cleared", "sequence_id": s.sequence})
	case "Close":
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
		return false
	}
	return true
}
