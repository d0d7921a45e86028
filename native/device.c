/*
 * device.c -- RpmaDevice: the verbs context behind an address
 *
 * librdmacm owns the contexts. It closes the context of a removed device, unless the context is in use. Each context is
 * therefore pinned for the life of the process, and passed to Java as a plain pointer.
 */
#include "device.h"

#include <dlfcn.h>
#include <errno.h>
#include <librpma.h>
#include <link.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "natives.h"

/* the context, 0 if the address belongs to no RDMA device (a wildcard), or librpma's code */
static jlong device_get(JNI_PARAMS, jstring address, jboolean remote)
{
	const char *text = (*env)->GetStringUTFChars(env, address, NULL);
	if (text == NULL)
		return 0;
	struct ibv_context *context = NULL;
	log_begin();
	int rc = log_end(rpma_utils_get_ibv_context(text, remote ? RPMA_UTIL_IBV_CONTEXT_REMOTE : RPMA_UTIL_IBV_CONTEXT_LOCAL,
			&context));
	(*env)->ReleaseStringUTFChars(env, address, text);
	return rc != 0 ? rc : (jlong)(intptr_t)context;
}

/* 0, or RPMA_E_PROVIDER if the device has been removed meanwhile */
static jint device_pin(JNI_PARAMS, jlong device)
{
	log_begin();
	struct ibv_context **contexts = rdma_get_devices(NULL);
	if (contexts == NULL)
		return log_end(log_error("rdma_get_devices()", errno));
	bool found = false;
	for (size_t i = 0; contexts[i] != NULL; i++)
		found = found || contexts[i] == jni_pointer(device);
	/* not rdma_free_devices(), which would release the contexts again: holding them is the pin */
	free(contexts);
	return log_end(found ? 0 : log_error("rdma_get_devices()", ENODEV));
}

static jint device_is_odp_capable(JNI_PARAMS, jlong device)
{
	int capable = 0;
	log_begin();
	int rc = log_end(rpma_utils_ibv_context_is_odp_capable(jni_pointer(device), &capable));
	return rc != 0 ? rc : capable;
}

struct image {
	uintptr_t address;
	const char *name;
	size_t size;
	bool found;
};

static bool is_of(const struct dl_phdr_info *object, uintptr_t address)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz)
			return true;
	}
	return false;
}

/* searches for the name in the constants of the shared object that contains the address; ends the iteration at this object */
static int find_in_image(struct dl_phdr_info *object, size_t size __attribute__((unused)), void *data)
{
	struct image *image = data;
	if (!is_of(object, image->address))
		return 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const void *begin = (const void *)(object->dlpi_addr + segment->p_vaddr);
		if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R)
			image->found = image->found || memmem(begin, segment->p_filesz, image->name, image->size) != NULL;
	}
	return 1;
}

/*
 * Whether librpma was built with a native operation. No function of librpma reports this. The name is the name of a function
 * that logs its own name only if librpma was built with the operation, or for debugging. Other images do not contain the name.
 * The name begins with a null byte, and size includes the null byte at its end.
 */
static bool librpma_has(const char *name, size_t size)
{
	struct image image = {.address = (uintptr_t)&rpma_flush, .name = name, .size = size};
	(void)dl_iterate_phdr(find_in_image, &image);
	return image.found;
}

/* 1 if the device has all the capabilities, 0 if not, or librpma's code */
static jint has_capabilities(jlong device, uint64_t capabilities)
{
	struct ibv_device_attr_ex attributes = {.comp_mask = 0};
	log_begin();
	int error = ibv_query_device_ex(jni_pointer(device), NULL, &attributes);
	if (error != 0)
		return log_end(log_error("ibv_query_device_ex()", error));
	(void)log_end(0);
	return (attributes.device_cap_flags_ex & capabilities) == capabilities;
}

int device_is_soft_roce(struct ibv_context *context)
{
	/* the kernel's RXE_VENDOR_ID: devices of hardware have the number of their maker */
	const uint32_t soft_roce = 0xffffff;
	struct ibv_device_attr_ex attributes = {.comp_mask = 0};
	int error = ibv_query_device_ex(context, NULL, &attributes);
	return error != 0 ? log_error("ibv_query_device_ex()", error) : attributes.orig_attr.vendor_id == soft_roce;
}

/* librpma's choice for each peer: 1 if a flush is an operation of the device, 0 if it is a read, or librpma's code */
static jint device_is_flush_native(JNI_PARAMS, jlong device)
{
	/* IB_UVERBS_DEVICE_FLUSH_GLOBAL and IB_UVERBS_DEVICE_FLUSH_PERSISTENT, which rdma-core has since release 45 */
	const uint64_t flushes = UINT64_C(1) << 38 | UINT64_C(1) << 39;
	static const char name[] = "\0rpma_mr_flush";
	jint has = has_capabilities(device, flushes);
	return has == 1 ? librpma_has(name, sizeof(name)) : has;
}

/* librpma's choice for each peer: 1 if an atomic write is an operation of the device, 0 if it is a write, or librpma's code */
static jint device_is_atomic_write_native(JNI_PARAMS, jlong device)
{
	/* IB_UVERBS_DEVICE_ATOMIC_WRITE */
	const uint64_t atomic_write = UINT64_C(1) << 40;
	static const char name[] = "\0rpma_utils_ibv_context_is_atomic_write_capable";
	jint has = has_capabilities(device, atomic_write);
	return has == 1 ? librpma_has(name, sizeof(name)) : has;
}

static jint max_message_of_port(struct ibv_context *context, uint8_t port)
{
	struct ibv_port_attr attributes;
	if (ibv_query_port(context, port, &attributes) != 0 || attributes.max_msg_sz == 0 || attributes.max_msg_sz > INT32_MAX)
		return INT32_MAX;
	return (jint)attributes.max_msg_sz;
}

jint device_max_message_of(struct ibv_context *context)
{
	struct ibv_device_attr_ex attributes = {.comp_mask = 0};
	if (ibv_query_device_ex(context, NULL, &attributes) != 0)
		return INT32_MAX;
	jint max = INT32_MAX;
	for (unsigned port = 1; port <= attributes.orig_attr.phys_port_cnt; port++) {
		jint of_port = max_message_of_port(context, (uint8_t)port);
		max = of_port < max ? of_port : max;
	}
	return max;
}

static jint device_max_message(JNI_PARAMS, jlong device)
{
	return device_max_message_of(jni_pointer(device));
}

static jbyteArray device_name(JNI_PARAMS, jlong device)
{
	const char *name = ibv_get_device_name(((struct ibv_context *)jni_pointer(device))->device);
	return jni_bytes(env, name, (jsize)strlen(name));
}

static const JNINativeMethod methods[] = {
	{"deviceGet", "(Ljava/lang/String;Z)J", device_get},
	{"devicePin", "(J)I", device_pin},
	{"deviceIsOdpCapable", "(J)I", device_is_odp_capable},
	{"deviceIsFlushNative", "(J)I", device_is_flush_native},
	{"deviceIsAtomicWriteNative", "(J)I", device_is_atomic_write_native},
	{"deviceMaxMessage", "(J)I", device_max_message},
	{"deviceName", "(J)[B", device_name},
};

const struct jni_table device_natives = {methods, sizeof(methods) / sizeof(methods[0])};
