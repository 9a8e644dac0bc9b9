package speech

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// Speak speaks a text and stores it as a sample. If the text cannot be spoken, it stores nothing.
//
// Errors:
//   - CodeBadRequest with the field: a field is invalid.
//   - CodeTooManyRequests with RetryAfter: too many texts are in synthesis or wait.
//   - CodeUnavailable: the engine is missing, fails, or is too slow. With the field text, a shorter text may succeed.
func (s *Service) Speak(ctx context.Context, org callwright.OrgID, r Request) (Sample, error) {
	j, err := s.prepare(ctx, org, r)
	if err != nil {
		return Sample{}, err
	}
	if kept, err := j.repeat(ctx); !errors.Is(err, callwright.ErrNotFound) {
		return kept, err
	}
	leave, err := j.admit(ctx, org, j.memory())
	if err != nil {
		return Sample{}, err
	}
	defer leave()
	samples, err := j.speak(ctx, func([]int16) {})
	if err != nil {
		return Sample{}, err
	}
	return j.store(ctx, samples)
}

// job is the synthesis of one text.
type job struct {
	*Service
	request Request
	voice   Voice
	sample  Sample // store and insert set the remaining fields
	began   time.Time
}

// prepare validates a request, resolves its voice, and returns the job.
func (s *Service) prepare(ctx context.Context, org callwright.OrgID, r Request) (*job, error) {
	began := s.cfg.Clock.Now()
	if err := r.check(); err != nil {
		return nil, err
	}
	voice, err := s.resolve(ctx, org, r.Voice, r.Language)
	if err != nil {
		return nil, err
	}
	return &job{
		Service: s, request: r, voice: voice, began: began,
		sample: Sample{
			ID: s.cfg.IDs.New(), Org: org, User: r.User, Text: r.Text, Voice: voice.ID, Language: r.Language, Format: r.Format,
			Key: s.key(r, voice),
		},
	}, nil
}

// memory returns the estimated memory of the text's audio in bytes. It assumes an eighth of a second per character; normal speech needs a
// fifteenth. The audio is in memory twice, as samples and as a file.
func (j *job) memory() int64 {
	return int64(len(j.request.Text)+16) / 8 * int64(j.request.Format.Rate()) * 4
}

// sparing is how long before the end of its retention period a sample stops sharing its audio, because a new sample needs the audio for
// longer. It is also the delay of the tasks that delete audio and voices without a record.
const sparing = time.Hour

// repeat stores a sample that shares the audio of an earlier sample with the same key. It returns CodeNotFound, and stores nothing, if
// there is no such sample or it is deleted meanwhile.
func (j *job) repeat(ctx context.Context) (Sample, error) {
	earlier, err := j.cfg.Samples.SampleByKey(ctx, j.sample.Org, j.sample.Key, j.cfg.Clock.Now().Add(sparing-j.cfg.KeepFor))
	if err != nil {
		return Sample{}, err
	}
	j.sample.Blob, j.sample.Bytes, j.sample.Duration = earlier.Blob, earlier.Bytes, earlier.Duration
	s, err := j.insert(ctx)
	if err != nil {
		return Sample{}, err
	}
	// If the earlier sample still exists, a later deletion does not delete the shared audio. If it has been deleted, the audio may be
	// deleted too.
	_, gone := j.cfg.Samples.Sample(ctx, earlier.Org, earlier.ID)
	if gone == nil {
		return s, nil
	}
	if err := j.DeleteSample(ctx, s.Org, s.ID); err != nil {
		return Sample{}, err
	}
	return Sample{}, gone
}

// insert sets CreatedAt and Latency, and stores the sample.
func (j *job) insert(ctx context.Context) (Sample, error) {
	j.sample.CreatedAt = j.cfg.Clock.Now()
	j.sample.Latency = j.sample.CreatedAt.Sub(j.began)
	err := j.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return j.cfg.Samples.InsertSample(ctx, j.sample) })
	return j.sample, err
}

// speak synthesizes the text, sentence by sentence, and returns all samples. It calls the function each with the samples of every finished
// sentence. It returns CodeUnavailable with the field text after maxSpeaking.
func (j *job) speak(ctx context.Context, each func([]int16)) ([]int16, error) {
	limited, cancel := context.WithTimeout(ctx, maxSpeaking)
	defer cancel()
	all, err := j.speakAll(limited, each)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		late := callwright.Errorf(callwright.CodeUnavailable, "was not spoken within %v: send a shorter text, or try again later", maxSpeaking)
		return nil, callwright.InField("text", late.Because(err))
	}
	return all, err
}

func (j *job) speakAll(ctx context.Context, each func([]int16)) ([]int16, error) {
	var all []int16
	rate := j.request.Format.Rate()
	for _, sentence := range sentences(j.request.Text) {
		samples, err := j.sentence(ctx, tts.Request{
			Text: sentence, Voice: j.voice.Base, Language: j.request.Language, Rate: rate, Prosody: j.voice.Prosody,
		})
		if err != nil {
			return nil, err
		}
		pcm.Normalize(samples, rate, j.cfg.Loudness)
		if len(all)+len(samples) > pcm.Samples(maxAudio, rate) {
			return nil, callwright.Invalid("text", "must take at most %v to speak: send a shorter text", maxAudio)
		}
		all = append(all, samples...)
		each(samples)
	}
	switch {
	case len(all) > 0:
		return all, nil
	case strings.ContainsFunc(j.request.Text, latin):
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech engine %s gave no audio for the text: try again, or choose another voice", j.desc.Name)
	}
	return nil, callwright.Invalid("text", "must contain something that the speech engine %s can speak: it may not support the script", j.desc.Name)
}

// spoken reports whether some engine may speak a character.
func spoken(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsSymbol(c) }

// latin reports whether every engine speaks a character.
func latin(c rune) bool { return c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) }

// sentence waits for a free slot and returns the engine's audio of a sentence. It returns CodeUnavailable after maxSentence.
func (j *job) sentence(ctx context.Context, r tts.Request) ([]int16, error) {
	release, err := j.slots.Claim(ctx, string(j.sample.Org), 1)
	if err != nil {
		return nil, err
	}
	defer release()
	limited, cancel := context.WithTimeout(ctx, maxSentence)
	defer cancel()
	samples, err := j.collect(limited, r)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech engine %s took over %v for a sentence: try again later, or ask the operator to read the log of the server",
			j.desc.Name, maxSentence).Because(err)
	}
	return samples, err
}

// collect returns the engine's audio of a sentence. It returns CodeUnavailable if the audio is longer than maxSentenceAudio.
func (s *Service) collect(ctx context.Context, r tts.Request) (samples []int16, err error) {
	stream, err := s.cfg.Engine.Synthesize(ctx, r)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	most := pcm.Samples(maxSentenceAudio, r.Rate)
	buffer := make([]int16, r.Rate/10)
	for {
		n, err := stream.Read(buffer)
		samples = append(samples, buffer[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return samples, nil
		case err != nil:
			return nil, err
		case len(samples) > most:
			return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech engine %s returned more than %v of audio for a sentence: send shorter sentences", s.desc.Name, maxSentenceAudio)
		}
	}
}

// sentences splits a text into sentences for synthesis. It joins sentences up to shortSentence bytes, so that engines rarely receive a
// single word.
func sentences(text string) []string {
	cutter := tts.Chunker{WholeSentences: true}
	var out []string
	for _, piece := range append(cutter.Write(text), cutter.Flush()...) {
		if last := len(out) - 1; last >= 0 && len(out[last])+1+len(piece) <= shortSentence {
			out[last] += " " + piece
			continue
		}
		out = append(out, piece)
	}
	return out
}

// shortSentence is the maximum length of joined sentences, in bytes.
const shortSentence = 120

// store stores the audio and then the sample. If the server dies in between, a task deletes the audio.
func (j *job) store(ctx context.Context, samples []int16) (Sample, error) {
	file, err := j.file(samples)
	if err != nil {
		return Sample{}, err
	}
	org, blob := j.sample.Org, j.cfg.IDs.New()
	j.sample.Blob, j.sample.Bytes = blob, int64(len(file))
	j.sample.Duration = pcm.Duration(len(samples), j.request.Format.Rate())
	if err := j.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskForgetBlob, Key: blob, Org: org, RunAt: j.cfg.Clock.Now().Add(sparing)}); err != nil {
		return Sample{}, err
	}
	if err := j.cfg.Blobs.StoreBlob(ctx, org, blob, bytes.NewReader(file), j.sample.Bytes); err != nil {
		return Sample{}, err
	}
	return j.insert(ctx)
}

// file returns the WAV file of samples in the requested format.
func (j *job) file(samples []int16) ([]byte, error) {
	var file bytes.Buffer
	audio := pcm.Audio{Rate: j.request.Format.Rate(), Channels: 1, Samples: samples}
	write := pcm.WriteWAV
	if j.request.Format == ULaw8000 {
		write = pcm.WriteMuLawWAV
	}
	if err := write(&file, audio); err != nil {
		return nil, fmt.Errorf("audio of a sample: %w", err)
	}
	return file.Bytes(), nil
}
