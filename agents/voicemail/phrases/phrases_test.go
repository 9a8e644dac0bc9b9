package phrases_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/voicemail/phrases"
)

// texts are texts of each category, separated by semicolons. The texts of none belong to no category: they are said by people.
type texts struct{ voicemail, ivr, announcement, screening, human, none string }

//nolint:misspell // not all callers speak English
var languages = map[string]texts{
	"en": {
		"Please leave a message after the tone.; You've reached Anna, I can't come to the phone right now; I'm away from my desk, I'll get back to you; " +
			"at the tone record your message, or press one for more options; the mailbox is full; sorry I missed your call, leaf a massage; " +
			"your call has been forwarded to an automated voice message system; the person you are calling is not available, at the tone please record your message",
		"press one for sales, press two for support; para español oprima dos; please listen carefully as our menu options have changed; " +
			"if you know your party's extension you may dial it now; your call is very important to us, please stay on the line; in a few words, tell me why you're calling",
		"the number you have dialed is not in service; your call cannot be completed as dialed; the subscriber you are calling is switched off; " +
			"all circuits are busy now, please try your call again later; the wireless customer you are calling is not available, please try again later",
		"please state your name and the reason for calling; Hi, if you record your name and reason for calling, I'll see if this person is available; " +
			"the person you're calling is using a screening service from Google; go ahead and say your name and why you're calling; please say your name after the tone and we will try to connect you",
		"who is this?; good morning, Acme support, this is Anna, how may I help you?; can you hear me?; yes, speaking; thank you for calling Miller and Sons, how can I direct your call; hello? is anybody there?",
		"hello; yes; he is not available right now; can you call back later; I will leave the house at nine; my name is Anna; one moment please; " +
			"I have a reason; what number; he dialed the wrong one; the tone of your voice",
	},
	"es": {
		"deje su mensaje después de la señal; no puedo atender su llamada en este momento, le llamaré; el buzón de voz está lleno; ha llamado al contestador de Ana",
		"para ventas, pulse uno; marque la extensión; todos nuestros agentes están ocupados; su llamada puede ser grabada",
		"el número marcado no existe; el teléfono está apagado o fuera de cobertura; el número que usted marcó no corresponde a ningún cliente",
		"diga su nombre y el motivo de la llamada; por favor indique su nombre para ver si está disponible",
		"¿en qué puedo ayudarle?; ¿quién es?; ¿de parte de quién?; dígame",
		"hola; sí; no está ahora; ¿bueno?; mi nombre es Ana; un momento",
	},
	"fr": {
		"laissez un message après le bip; vous êtes bien chez Anne, je ne suis pas disponible, je vous rappellerai; bienvenue sur la messagerie de Paul",
		"pour le service commercial, tapez un; appuyez sur la touche étoile; ne quittez pas, tous nos conseillers sont en ligne",
		"le numéro que vous avez composé n'est pas attribué; votre correspondant n'est pas joignable, veuillez rappeler ultérieurement",
		"dites votre nom et le motif de votre appel",
		"bonjour, en quoi puis-je vous aider?; qui est à l'appareil?; c'est de la part de qui?",
		"allô; oui bonjour; il n'est pas là; un instant; je m'appelle Anne",
	},
	"de": {
		"bitte hinterlassen Sie eine Nachricht nach dem Signalton; ich bin im Moment nicht erreichbar, ich rufe zurück; Sie sind mit der Mailbox von Anna verbunden",
		"für den Vertrieb drücken Sie die Eins; bitte wählen Sie zwei; alle Mitarbeiter sind im Gespräch, bitte bleiben Sie in der Leitung",
		"kein Anschluss unter dieser Nummer; der gewünschte Gesprächspartner ist zurzeit nicht erreichbar; die gewählte Rufnummer ist nicht vergeben",
		"bitte nennen Sie Ihren Namen und den Grund des Anrufs",
		"guten Tag, Firma Müller, was kann ich für Sie tun?; wer ist da?; worum geht es?; Meier am Apparat",
		"hallo; ja; Müller; er ist gerade nicht da; einen Moment; mein Name ist Anna",
	},
	"it": {
		"lasciate un messaggio dopo il segnale acustico; risponde la segreteria telefonica; non posso rispondere, vi richiamerò",
		"per il servizio clienti, prema uno; attenda in linea; tutti gli operatori sono occupati",
		"il numero selezionato è inesistente; l'utente chiamato non è raggiungibile; il telefono potrebbe essere spento",
		"dica il suo nome e il motivo della chiamata",
		"buongiorno, in cosa posso aiutarla?; chi parla?; pronto, chi è?; mi dica",
		"pronto; sì; non c'è adesso; un attimo; sono Anna",
	},
	"pt": {
		"deixe seu recado após o sinal; você ligou para Ana, não posso atender no momento; sua chamada será encaminhada para a caixa postal",
		"para vendas, digite um; sua ligação é muito importante; digite o ramal",
		"o número discado não existe; o telefone está desligado ou fora da área de cobertura",
		"diga seu nome e o motivo da ligação",
		"bom dia, em que posso ajudar?; quem fala?; quem gostaria?; pois não",
		"alô; sim; ele não está; um momento; meu nome é Ana",
	},
	"nl": {
		"spreek een bericht in na de piep; u bent verbonden met de voicemail van Anna; ik ben niet bereikbaar, ik bel u terug",
		"voor verkoop, toets een; al onze medewerkers zijn in gesprek; blijf aan de lijn",
		"dit nummer is niet in gebruik; het door u gekozen nummer is niet aangesloten; de abonnee is buiten bereik",
		"noem uw naam en de reden van uw gesprek",
		"goedemorgen, waarmee kan ik u helpen?; met wie spreek ik?; wie is dit?",
		"hallo; ja; met Anna; hij is er niet; een moment",
	},
}

// TestClassify checks the category of texts in every language with a data file.
func TestClassify(t *testing.T) {
	t.Parallel()
	for language, test := range languages {
		for list, want := range map[string]call.Category{
			test.voicemail: call.CategoryVoicemail, test.ivr: call.CategoryIVR, test.announcement: call.CategoryAnnouncement,
			test.screening: call.CategoryScreening, test.human: call.CategoryHuman, test.none: "",
		} {
			for text := range strings.SplitSeq(list, "; ") {
				if got, phrase := phrases.Classify(language, text); got != want || (phrase == "") != (want == "") {
					t.Errorf("Classify(%q, %q) = %q by %q, want %q", language, text, got, phrase, want)
				}
			}
		}
	}
	if files, err := filepath.Glob("words/*.txt"); err != nil || len(files) != len(languages) {
		t.Errorf("the table has %d languages, the folder %q (%v)", len(languages), files, err)
	}
}

// TestLongText checks that only the first words of a text count, and that the work is bounded.
func TestLongText(t *testing.T) {
	t.Parallel()
	if got, _ := phrases.Classify("en", strings.Repeat("and so on ", 100_000)+"leave a message"); got != "" {
		t.Errorf("a long text is %q", got)
	}
}

// FuzzClassify checks that every text has a category with a phrase, or neither.
func FuzzClassify(f *testing.F) {
	f.Add("en", "please leave a message")
	f.Add("xx", "\xff \x00 leave * # |")
	f.Fuzz(func(t *testing.T, language, text string) {
		if category, phrase := phrases.Classify(language, text); (category == "") != (phrase == "") {
			t.Errorf("%q by %q", category, phrase)
		}
	})
}
