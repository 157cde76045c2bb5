/* doca_log() has arguments without end: they are recorded, and handed on, as the text that they make. */
doca_error_t doca_log(uint32_t level, int source, const char *file, int line, const char *function, const char *format, ...)
{
	__typeof__(&doca_log) real = NOTE_REAL(doca_log);
	struct note *note = note_begin(ENDLESS_NUMBER, 7, NOTE_PLACE);
	char text[1024] = "";
	doca_error_t result;
	va_list more;

	va_start(more, format);
	if (format != NULL)
		(void)vsnprintf(text, sizeof(text), format, more);
	va_end(more);
	note_word(note, level);
	note_word(note, (uint64_t)source);
	note_word(note, (uintptr_t)file);
	note_word(note, (uint64_t)line);
	note_word(note, (uintptr_t)function);
	note_word(note, (uintptr_t)format);
	note_word(note, 0);
	note_text(note, 2, 0, file);
	note_text(note, 4, 0, function);
	if (format != NULL)
		note_text(note, 5, 0, text);
	note_sent(note);
	if (note != NULL)
		note_enter();
	result = real(level, source, file, line, function, format != NULL ? "%s" : NULL, text);
	if (note != NULL)
		note_sent(note_end(ENDLESS_NUMBER, (uint64_t)result));
	return result;
}
