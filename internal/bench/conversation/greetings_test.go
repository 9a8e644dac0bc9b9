package conversation_test

import "github.com/callwright/callwright/agents/call"

// greeting is the text of a party that answers a call.
type greeting struct {
	language string
	category call.Category
	text     string
}

// greetings lists the texts by half. No text is in both halves. Sentences are separated by pauses.
//
//nolint:misspell // not all callers speak English
var greetings = map[string][]greeting{
	"tune": {
		{"en", call.CategoryHuman, "Hello?"},
		{"en", call.CategoryHuman, "Yes, this is Anna."},
		{"en", call.CategoryHuman, "Acme support, how can I help?"},
		{"en", call.CategoryHuman, "Good morning, thank you for calling Miller and Sons. This is Robin, how may I direct your call?"},
		{"en", call.CategoryHuman, "Hello, Smith residence."},
		{"en", call.CategoryHuman, "Hi, who is this?"},
		{"en", call.CategoryVoicemail, "Hi, this is Anna. I can't come to the phone right now. Please leave a message after the beep."},
		{"en", call.CategoryVoicemail, "You have reached the office of Robin Miller. Nobody can take your call. Leave your name and number after the tone, and we will call you back."},
		{"en", call.CategoryVoicemail, "Hey, leave a message."},
		{"en", call.CategoryVoicemail, "The person you are calling is not available. At the tone, please record your message. When you have finished recording, you may hang up, or press one for more options."},
		{"en", call.CategoryIVR, "Thank you for calling Acme. For sales, press one. For support, press two."},
		{"en", call.CategoryIVR, "Welcome to the bank. Please listen carefully, as our menu options have changed."},
		{"en", call.CategoryAnnouncement, "We are sorry. The number you have dialed is not in service. Please check the number and dial again."},
		{"en", call.CategoryAnnouncement, "All circuits are busy now. Please try your call again later."},
		{"en", call.CategoryScreening, "Hi. If you record your name and reason for calling, I'll see if this person is available."},
		{"es", call.CategoryHuman, "¿Bueno? ¿Quién habla?"},
		{"es", call.CategoryHuman, "Clínica central, buenos días."},
		{"es", call.CategoryVoicemail, "Hola, soy Ana. No puedo atender su llamada en este momento. Deje su mensaje después de la señal."},
		{"es", call.CategoryIVR, "Bienvenido. Para ventas, pulse uno. Para soporte, pulse dos."},
		{"es", call.CategoryAnnouncement, "El número que usted marcó no existe. Verifique el número y marque de nuevo."},
		{"de", call.CategoryHuman, "Müller, guten Tag."},
		{"de", call.CategoryHuman, "Praxis Doktor Weber, was kann ich für Sie tun?"},
		{"de", call.CategoryVoicemail, "Hallo, hier ist Anna. Ich bin im Moment nicht erreichbar. Bitte hinterlassen Sie eine Nachricht nach dem Signalton."},
		{"de", call.CategoryAnnouncement, "Kein Anschluss unter dieser Nummer."},
		{"de", call.CategoryIVR, "Willkommen bei der Bank. Für Fragen zum Konto drücken Sie die Eins."},
		{"it", call.CategoryHuman, "Pronto?"},
		{"it", call.CategoryVoicemail, "Risponde la segreteria telefonica. Lasciate un messaggio dopo il segnale acustico."},
	},
	"held": {
		{"en", call.CategoryHuman, "Hello."},
		{"en", call.CategoryHuman, "Yeah?"},
		{"en", call.CategoryHuman, "This is David speaking."},
		{"en", call.CategoryHuman, "City dental practice, Maria speaking, what can I do for you?"},
		{"en", call.CategoryHuman, "Good afternoon, Harbour hotel, reception. How can I help you today?"},
		{"en", call.CategoryHuman, "Hello? Who is calling, please?"},
		{"en", call.CategoryHuman, "Hi there. Sorry, it is a bit loud here."},
		{"en", call.CategoryHuman, "Johnson."},
		{"en", call.CategoryVoicemail, "Hello, you've reached Tom. I'm away from my phone at the moment, so please leave me a message and I'll get back to you as soon as possible."},
		{"en", call.CategoryVoicemail, "Sorry we missed your call. Our office is closed. Please leave your name, your number and a short message, and one of us will return your call on the next business day."},
		{"en", call.CategoryVoicemail, "Your call has been forwarded to an automatic voice message system. Five five five, zero one two three, is not available. At the tone, please record your message."},
		{"en", call.CategoryVoicemail, "This is Kim. You know what to do."},
		{"en", call.CategoryVoicemail, "We can't get to the phone right now. Speak after the beep."},
		{"en", call.CategoryVoicemail, "The mailbox of the person you called is full. Goodbye."},
		{"en", call.CategoryIVR, "Hello, and welcome to City Energy. To report a power cut, press one. To pay a bill, press two. For everything else, stay on the line."},
		{"en", call.CategoryIVR, "Your call may be recorded for training purposes. If you know the extension of the person you want, dial it now."},
		{"en", call.CategoryIVR, "Thanks for calling. In a few words, tell me what you are calling about. You can say things like, track my order."},
		{"en", call.CategoryAnnouncement, "Your call cannot be completed as dialed. Please hang up and try again."},
		{"en", call.CategoryAnnouncement, "The wireless customer you are calling is not available. Please try again later."},
		{"en", call.CategoryAnnouncement, "The number you are trying to reach has been disconnected or is no longer in service."},
		{"en", call.CategoryScreening, "The person you are calling is using a screening service, and will get a copy of this conversation. Go ahead and say your name, and why you are calling."},
		{"en", call.CategoryScreening, "Please state your name after the tone, and we will try to connect you."},
		{"fr", call.CategoryHuman, "Allô?"},
		{"fr", call.CategoryHuman, "Cabinet du docteur Martin, bonjour. En quoi puis-je vous aider?"},
		{"fr", call.CategoryVoicemail, "Bonjour, vous êtes bien sur la messagerie de Paul. Je ne suis pas disponible pour le moment. Laissez un message après le bip."},
		{"fr", call.CategoryIVR, "Bienvenue. Pour le service des ventes, tapez un. Pour une autre demande, tapez deux."},
		{"fr", call.CategoryAnnouncement, "Le numéro que vous avez composé n'est pas attribué. Veuillez consulter l'annuaire."},
		{"fr", call.CategoryScreening, "Veuillez indiquer votre nom et le motif de votre appel."},
		{"pt", call.CategoryHuman, "Alô, quem fala?"},
		{"pt", call.CategoryHuman, "Consultório da doutora Silva, bom dia."},
		{"pt", call.CategoryVoicemail, "Você ligou para Carla. No momento não posso atender. Deixe seu recado após o sinal."},
		{"pt", call.CategoryAnnouncement, "O número discado não existe. Por favor, verifique o número e tente de novo."},
		{"nl", call.CategoryHuman, "Met Jan de Vries."},
		{"nl", call.CategoryVoicemail, "Hallo, u bent verbonden met de voicemail van Jan. Ik ben nu niet bereikbaar. Spreek een bericht in na de piep."},
		{"nl", call.CategoryIVR, "Welkom. Voor een afspraak, toets een. Voor recepten, toets twee."},
		{"it", call.CategoryHuman, "Studio Rossi, buongiorno. Mi dica."},
		{"it", call.CategoryVoicemail, "Sono Marco. In questo momento non posso rispondere. Lasciate il vostro nome dopo il tono, vi richiamerò."},
		{"it", call.CategoryAnnouncement, "L'utente da lei chiamato non è al momento raggiungibile. La preghiamo di richiamare più tardi."},
	},
}
