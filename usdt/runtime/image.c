// SPDX-License-Identifier: BSD-2-Clause
//
// Writes a file like the linker's for a program with probes:
//
//     part                        loaded as
//     ELF and program headers     code, from the file's start
//     .note.gnu.build-id          code
//     .stapsdt.base               code
//     .text                       code: the sites
//     .probes                     data, from a page's start: the semaphores
//     .note.stapsdt               not
//     .note.tracectl              not
//     .symtab .strtab .shstrtab   not
//     section headers             not
//
// Tools expect a shared library's code to start with the file: some take the first mapping of a
// file as its address 0, and read the headers there.
//
// Each site is a symbol with a size. From that tools know that the nop is a function's first
// instruction, and stacks show its name.
#include "usdt/runtime/image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/runtime/machine.h"

enum { NOTE_STAPSDT = 3, NOTE_TRACECTL = 1 };

enum section_number {
  SECTION_NONE,
  SECTION_BUILD_ID,
  SECTION_BASE,
  SECTION_TEXT,
  SECTION_PROBES,
  SECTION_STAPSDT,
  SECTION_TRACECTL,
  SECTION_SYMBOLS,
  SECTION_STRINGS,
  SECTION_NAMES,
  SECTION_COUNT
};

// As in the file; contains the offsets of the names.
static const char section_names[] =
    "\0.note.gnu.build-id\0.stapsdt.base\0.text\0.probes\0.note.stapsdt\0.note.tracectl\0"
    ".symtab\0.strtab\0.shstrtab";

// ---- growing bytes ----

struct writer {
  uint8_t* bytes;
  size_t size, room;
  bool failed;  // for want of memory; all later calls do nothing
};

static void reserve(struct writer* to, size_t size) {
  if (to->failed || size <= to->room - to->size) return;
  const size_t room = (to->size + size) * 2;
  uint8_t* const bytes = realloc(to->bytes, room);
  to->failed = !bytes;
  if (to->failed) return;
  to->bytes = bytes;
  to->room = room;
}

static void put_zeros(struct writer* to, size_t size) {
  reserve(to, size);
  if (to->failed || size == 0) return;
  memset(to->bytes + to->size, 0, size);
  to->size += size;
}

static void put(struct writer* to, const void* from, size_t size) {
  reserve(to, size);
  if (to->failed || size == 0) return;
  memcpy(to->bytes + to->size, from, size);
  to->size += size;
}

static void put_text(struct writer* to, const char* text) { put(to, text, strlen(text) + 1); }
static void put_word(struct writer* to, uint32_t word) { put(to, &word, sizeof word); }
static void put_address(struct writer* to, uint64_t address) { put(to, &address, sizeof address); }

static size_t aligned(size_t size, size_t to) { return (size + to - 1) / to * to; }
static void align(struct writer* to, size_t alignment) {
  put_zeros(to, aligned(to->size, alignment) - to->size);
}

// ---- the image ----

struct build {
  struct writer out;
  const char* provider;
  const struct image_probe* probes;
  size_t count;
  Elf64_Shdr sections[SECTION_COUNT];
  size_t base, first_site, semaphores;  // offsets
  size_t build_id;                      // offset of its bytes
  size_t page;
};

static uint64_t site_of(const struct build* build, size_t index) {
  return build->first_site + index * IMAGE_SITE_STRIDE;
}

static void begin(struct build* build, enum section_number number, uint32_t type, uint64_t flags,
                  size_t alignment) {
  align(&build->out, alignment);
  Elf64_Shdr* const section = &build->sections[number];
  section->sh_type = type;
  section->sh_flags = flags;
  section->sh_addralign = alignment;
  section->sh_offset = build->out.size;
  if (flags & SHF_ALLOC) section->sh_addr = build->out.size;
}

static void end(struct build* build, enum section_number number) {
  Elf64_Shdr* const section = &build->sections[number];
  section->sh_size = build->out.size - section->sh_offset;
}

enum { SEGMENT_CODE, SEGMENT_DATA, SEGMENT_NOTE, SEGMENT_STACK, SEGMENT_COUNT };

static void put_build_id(struct build* build) {
  begin(build, SECTION_BUILD_ID, SHT_NOTE, SHF_ALLOC, 4);
  put_word(&build->out, sizeof ELF_NOTE_GNU);
  put_word(&build->out, IMAGE_BUILD_ID_SIZE);
  put_word(&build->out, NT_GNU_BUILD_ID);
  put(&build->out, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU);
  build->build_id = build->out.size;
  put_zeros(&build->out, IMAGE_BUILD_ID_SIZE);
  end(build, SECTION_BUILD_ID);
}

static void put_loaded(struct build* build) {
  put_zeros(&build->out, sizeof(Elf64_Ehdr) + SEGMENT_COUNT * sizeof(Elf64_Phdr));
  put_build_id(build);
  begin(build, SECTION_BASE, SHT_PROGBITS, SHF_ALLOC, 1);
  build->base = build->out.size;
  put_zeros(&build->out, 1);
  end(build, SECTION_BASE);
  begin(build, SECTION_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, IMAGE_SITE_STRIDE);
  build->first_site = build->out.size;
  for (size_t i = 0; i < build->count; ++i)
    put(&build->out, image_machine.site_code, sizeof image_machine.site_code);
  end(build, SECTION_TEXT);
  begin(build, SECTION_PROBES, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, build->page);
  build->semaphores = build->out.size;
  put_zeros(&build->out, 2 * build->count);
  end(build, SECTION_PROBES);
  align(&build->out, build->page);
}

// end_note() fills in the length of the data after the header.
static size_t begin_note(struct writer* out, const char* owner, uint32_t type) {
  put_word(out, (uint32_t)strlen(owner) + 1);
  put_word(out, 0);
  put_word(out, type);
  put_text(out, owner);
  align(out, 4);
  return out->size;
}

static void end_note(struct writer* out, size_t contents, const char* owner) {
  if (out->failed) return;
  const uint32_t size = (uint32_t)(out->size - contents);
  const size_t header = contents - aligned(strlen(owner) + 1, 4) - 3 * sizeof(uint32_t);
  memcpy(out->bytes + header + sizeof(uint32_t), &size, sizeof size);
  align(out, 4);
}

static void put_stapsdt_notes(struct build* build) {
  begin(build, SECTION_STAPSDT, SHT_NOTE, 0, 4);
  for (size_t i = 0; i < build->count; ++i) {
    const size_t contents = begin_note(&build->out, "stapsdt", NOTE_STAPSDT);
    put_address(&build->out, site_of(build, i));
    put_address(&build->out, build->base);
    put_address(&build->out, build->semaphores + 2 * i);
    put_text(&build->out, build->provider);
    put_text(&build->out, build->probes[i].name);
    put_text(&build->out, build->probes[i].signature->places);
    end_note(&build->out, contents, "stapsdt");
  }
  end(build, SECTION_STAPSDT);
}

static void put_tracectl_notes(struct build* build) {
  begin(build, SECTION_TRACECTL, SHT_NOTE, 0, 4);
  for (size_t i = 0; i < build->count; ++i) {
    const struct image_signature* const signature = build->probes[i].signature;
    const size_t contents = begin_note(&build->out, "tracectl", NOTE_TRACECTL);
    put_address(&build->out, site_of(build, i));
    put_address(&build->out, build->base);
    put(&build->out, signature->entries, signature->entries_size);
    end_note(&build->out, contents, "tracectl");
  }
  end(build, SECTION_TRACECTL);
}

// Symbols are named like those of <tracectl/usdt.h>.
static const char site_prefix[] = "_tracectl.site.";

static size_t site_name_size(const struct build* build, size_t index) {
  return sizeof site_prefix - 1 + strlen(build->provider) + 1 + strlen(build->probes[index].name) +
         1;
}

static void put_symbols(struct build* build) {
  begin(build, SECTION_SYMBOLS, SHT_SYMTAB, 0, 8);
  put_zeros(&build->out, sizeof(Elf64_Sym));
  size_t name = 1;
  for (size_t i = 0; i < build->count; ++i) {
    const Elf64_Sym symbol = {.st_name = (uint32_t)name,
                              .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                              .st_shndx = SECTION_TEXT,
                              .st_value = site_of(build, i),
                              .st_size = image_machine.site_size};
    put(&build->out, &symbol, sizeof symbol);
    name += site_name_size(build, i);
  }
  end(build, SECTION_SYMBOLS);
  Elf64_Shdr* const section = &build->sections[SECTION_SYMBOLS];
  section->sh_link = SECTION_STRINGS;
  section->sh_info = (uint32_t)build->count + 1;  // the first global symbol
  section->sh_entsize = sizeof(Elf64_Sym);
}

static void put_strings(struct build* build) {
  begin(build, SECTION_STRINGS, SHT_STRTAB, 0, 1);
  put_zeros(&build->out, 1);
  for (size_t i = 0; i < build->count; ++i) {
    put(&build->out, site_prefix, sizeof site_prefix - 1);
    put(&build->out, build->provider, strlen(build->provider));
    put(&build->out, ".", 1);
    put_text(&build->out, build->probes[i].name);
  }
  end(build, SECTION_STRINGS);
  begin(build, SECTION_NAMES, SHT_STRTAB, 0, 1);
  put(&build->out, section_names, sizeof section_names);
  end(build, SECTION_NAMES);
}

static size_t put_section_headers(struct build* build) {
  align(&build->out, 8);
  const size_t offset = build->out.size;
  uint32_t name = 0;
  for (size_t i = 0; i < SECTION_COUNT; ++i) {
    build->sections[i].sh_name = name;
    name += (uint32_t)strlen(section_names + name) + 1;
  }
  put(&build->out, build->sections, sizeof build->sections);
  return offset;
}

static Elf64_Phdr segment(uint32_t type, uint32_t flags, size_t offset, size_t size,
                          size_t alignment) {
  return (Elf64_Phdr){.p_type = type,
                      .p_flags = flags,
                      .p_offset = offset,
                      .p_vaddr = offset,
                      .p_paddr = offset,
                      .p_filesz = size,
                      .p_memsz = size,
                      .p_align = alignment};
}

static void write_program_headers(const struct build* build, uint8_t* to) {
  const Elf64_Shdr* const text = &build->sections[SECTION_TEXT];
  const Elf64_Shdr* const data = &build->sections[SECTION_PROBES];
  const Elf64_Shdr* const note = &build->sections[SECTION_BUILD_ID];
  const Elf64_Phdr segments[SEGMENT_COUNT] = {
      [SEGMENT_CODE] =
          segment(PT_LOAD, PF_R | PF_X, 0, text->sh_offset + text->sh_size, build->page),
      [SEGMENT_DATA] = segment(PT_LOAD, PF_R | PF_W, data->sh_offset, data->sh_size, build->page),
      [SEGMENT_NOTE] = segment(PT_NOTE, PF_R, note->sh_offset, note->sh_size, 4),
      [SEGMENT_STACK] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16)};
  memcpy(to, segments, sizeof segments);
}

static Elf64_Ehdr header_with(uint16_t segments) {
  return (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                                  EV_CURRENT, ELFOSABI_NONE},
                      .e_type = ET_DYN,
                      .e_machine = image_machine.number,
                      .e_version = EV_CURRENT,
                      .e_phoff = sizeof(Elf64_Ehdr),
                      .e_ehsize = sizeof(Elf64_Ehdr),
                      .e_phentsize = sizeof(Elf64_Phdr),
                      .e_phnum = segments,
                      .e_shentsize = sizeof(Elf64_Shdr)};
}

static void write_header(size_t section_headers, uint8_t* to) {
  Elf64_Ehdr header = header_with(SEGMENT_COUNT);
  header.e_shoff = section_headers;
  header.e_shnum = SECTION_COUNT;
  header.e_shstrndx = SECTION_NAMES;
  memcpy(to, &header, sizeof header);
}

// FNV-1a of 128 bits, http://www.isthe.com/chongo/tech/comp/fnv/. It distinguishes images; it is no
// protection against two with the same id on purpose.
static void write_build_id(const struct build* build) {
  __extension__ typedef unsigned __int128 Hash;
  const Hash prime = ((Hash)1 << 88) + 0x13b;
  Hash hash = ((Hash)0x6c62272e07bb0142 << 64) + 0x62b821756295c58d;
  for (size_t i = 0; i < build->out.size; ++i) hash = (hash ^ build->out.bytes[i]) * prime;
  memcpy(build->out.bytes + build->build_id, &hash, IMAGE_BUILD_ID_SIZE);
}

size_t image_note_bytes(const char* provider, const struct image_probe* probe) {
  const size_t header = 3 * sizeof(uint32_t) + sizeof "tracectl" + 3;
  const size_t texts = strlen(provider) + strlen(probe->name) + strlen(probe->signature->places);
  const size_t stapsdt = header + 3 * sizeof(uint64_t) + texts + 3 + 3;
  const size_t tracectl = header + 2 * sizeof(uint64_t) + probe->signature->entries_size + 3;
  return stapsdt > tracectl ? stapsdt : tracectl;
}

int image_build(const char* provider, const struct image_probe* probes, size_t count, size_t page,
                struct image* image) {
  struct build build = {.provider = provider, .probes = probes, .count = count, .page = page};
  put_loaded(&build);
  const size_t mapped_size = build.out.size;
  put_stapsdt_notes(&build);
  put_tracectl_notes(&build);
  put_symbols(&build);
  put_strings(&build);
  const size_t section_headers = put_section_headers(&build);
  if (build.out.failed) {
    free(build.out.bytes);
    return ENOMEM;
  }
  write_header(section_headers, build.out.bytes);
  write_program_headers(&build, build.out.bytes + sizeof(Elf64_Ehdr));
  write_build_id(&build);
  *image = (struct image){.bytes = build.out.bytes,
                          .size = build.out.size,
                          .first_site = build.first_site,
                          .semaphores = build.semaphores,
                          .mapped_size = mapped_size,
                          .build_id = build.build_id};
  return 0;
}

void image_write_empty(uint8_t* to, size_t size, size_t page) {
  for (size_t at = 0; at < size; ++at) to[at] = image_machine.site_code[at % IMAGE_SITE_STRIDE];
  const Elf64_Ehdr header = header_with(1);
  const Elf64_Phdr code = segment(PT_LOAD, PF_R | PF_X, 0, size, page);
  memcpy(to, &header, sizeof header);
  memcpy(to + sizeof header, &code, sizeof code);
}
