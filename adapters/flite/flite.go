// Package flite synthesizes speech with flite, a small synthesizer for English that runs as a local program (Debian: apt-get install
// flite). The synthesis takes about 3 % of the duration of the speech.
package flite

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/speech/tts"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/engine"
	"github.com/callwright/callwright/speech/pcm"
)

const (
	install      = "apt-get install flite (Debian, Ubuntu), brew install flite (macOS)"
	defaultVoice = "slt"
	listTimeout  = 10 * time.Second
	maxSamples   = 48_000_000 // maximum for one text: 50 minutes at 16 kHz
)

// Config configures a Synthesizer. The zero Config is valid.
type Config struct {
	Path     string // path of the program; if empty, flite on the PATH
	Voice    string // name of the default voice; if empty, slt or else the first voice
	Parallel int    // maximum of concurrent processes; 0 means twice the number of processors
}

// Synthesizer synthesizes speech with flite; it implements tts.Engine.
type Synthesizer struct {
	program *engine.Program
	voice   string
	voices  []string
	version string
}

var _ tts.Engine = (*Synthesizer)(nil)

// New finds the program and reads the list of its voices. It returns CodeUnavailable, with the package to install, if the program or its
// voices are absent, and CodeBadRequest if the configured voice is not in the list.
func New(config Config) (*Synthesizer, error) {
	program, err := engine.Find(config.Path, []string{"flite"}, install, config.Parallel)
	if err != nil {
		return nil, err
	}
	s := &Synthesizer{program: program, voice: config.Voice}
	if s.voices, err = listVoices(program); err != nil {
		return nil, err
	}
	s.version = version(program)
	switch {
	case s.voice == "" && slices.Contains(s.voices, defaultVoice):
		s.voice = defaultVoice
	case s.voice == "":
		s.voice = s.voices[0]
	case !slices.Contains(s.voices, s.voice):
		return nil, s.unknownVoice(s.voice)
	}
	return s, nil
}

// listVoices returns the voices that flite prints, sorted. It parses a line such as "Voices available: kal awb_time kal16 awb rms slt", and
// omits voices that can only say the time of day.
func listVoices(program *engine.Program) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	printed, err := program.Run(ctx, "", "-lv")
	if err != nil {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "flite cannot list its voices: %w", err)
	}
	_, list, _ := strings.Cut(string(printed), ":")
	voices := slices.DeleteFunc(strings.Fields(list), func(voice string) bool { return strings.HasSuffix(voice, "_time") })
	if len(voices) == 0 {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "flite lists no voices: install its package again: %s", install)
	}
	slices.Sort(voices)
	return slices.Compact(voices), nil
}

// version returns the version that flite prints, such as "flite-2.2-release", or an empty string if it prints none.
func version(program *engine.Program) string {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	printed, _ := program.Run(ctx, "", "--version") // some versions print it and exit with status 1
	_, after, _ := strings.Cut(string(printed), "version:")
	name, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return name
}

// Describe returns a description of the synthesizer, with its voices sorted by name. All of them speak English.
func (s *Synthesizer) Describe() tts.Description {
	d := tts.Description{Name: "flite", Version: s.version, Default: s.voice, Pitch: true, Tempo: true}
	for _, name := range s.voices {
		d.Voices = append(d.Voices, tts.Voice{Name: name, Description: described[name], Language: "en-US"})
	}
	return d
}

// described contains human-readable descriptions of the voices that Debian packages.
var described = map[string]string{
	"slt": "Female, American English", "rms": "Male, American English", "awb": "Male, Scottish accent",
	"kal": "Male, American English, at 8 kHz", "kal16": "Male, American English",
}

// Synthesize speaks English text. It replaces letters that do not occur in English with similar letters, or omits them. It returns
// CodeBadRequest for an invalid request, an unknown voice or another language.
func (s *Synthesizer) Synthesize(ctx context.Context, speech tts.Request) (tts.Stream, error) {
	if err := speech.Check(); err != nil {
		return nil, err
	}
	if err := s.CheckVoice(speech.Voice, speech.Language); err != nil {
		return nil, err
	}
	speech.Voice = cmp.Or(speech.Voice, s.voice)
	return engine.Speak(ctx, speech.Rate, func(ctx context.Context) (engine.Speech, error) {
		if engine.Silent(plain(speech.Text)) {
			return engine.Speech{Audio: pcm.Audio{Rate: speech.Rate, Channels: 1}}, nil
		}
		return s.speak(ctx, speech)
	}), nil
}

// CheckVoice returns CodeBadRequest for languages other than English, and for unknown voices, which flite itself would silently replace.
func (s *Synthesizer) CheckVoice(voice, language string) error {
	if voice != "" && !slices.Contains(s.voices, voice) {
		return s.unknownVoice(voice)
	}
	if broad, _, _ := strings.Cut(strings.ToLower(language), "-"); broad != "" && broad != "en" {
		return callwright.Invalid("language", "must be English, such as en or en-US, the only language of flite, not %q", language)
	}
	return nil
}

func (s *Synthesizer) unknownVoice(voice string) error {
	return callwright.Invalid("voice", "unknown voice %q: use one of %s", voice, strings.Join(s.voices, ", "))
}

// speak runs flite and returns its audio with the marks of the words. It passes the text in a file, because every user of the machine could
// read an argument in the list of processes. flite also writes to a file, because it hangs when it reads from a file and writes to a pipe.
// At the same time, another process pronounces the words one by one, because flite prints the times of phones, but not those of words.
func (s *Synthesizer) speak(ctx context.Context, request tts.Request) (speech engine.Speech, err error) {
	controls, playback := control(request.Voice, request.Prosody)
	words := wordsOf(request.Text)
	err = engine.Scratch("flite", func(dir string) error {
		in, out := filepath.Join(dir, "text"), filepath.Join(dir, "speech.wav")
		text := plain(request.Text) + "\n" // without a line break flite omits a short last sentence
		if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
			return failed(err)
		}
		var phones []phone
		var pronounced sync.WaitGroup
		pronounced.Go(func() { phones = s.pronounce(ctx, dir, words) })
		printed, err := s.program.Run(ctx, dir, append([]string{"-voice", request.Voice, "-f", in, "-o", out, "-psdur"}, controls...)...)
		pronounced.Wait()
		if err != nil {
			return err
		}
		raw, err := engine.ReadFile(out)
		if err != nil {
			return failed(err)
		}
		if speech.Audio, err = pcm.ReadWAV(bytes.NewReader(raw), maxSamples); err != nil {
			return failed(err)
		}
		marks := marksOf(words, phones, parseSegments(printed, speech.Audio.Duration().Seconds()), speech.Audio.Rate)
		speech.Marks = tts.CleanMarks(request.Text, marks, len(speech.Audio.Mono()))
		speech.Audio.Rate = int(math.Round(float64(speech.Audio.Rate)*playback/rateStep)) * rateStep
		return nil
	})
	return speech, err
}

func failed(cause error) error {
	return (&callwright.Error{Code: callwright.CodeUnavailable, Message: "flite produced no audio"}).Because(cause)
}
