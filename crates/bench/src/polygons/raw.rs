//! The article's design with raw pointers, as in C++.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::null_mut;

use drystone_mesh::{Lifetime, Plane};

use super::cutter::{CutCorner, CutStore, Scratch, clip_frame};
use super::{Model, Store, Tips, VisibleParts};

struct Coordinate {
    position: [f32; 3],
    _transformed: [f32; 3],
    _screen: [f32; 2],
    _stamp: u32,
    users: u32,
    /// Next free record, while this one is free.
    next: *mut Coordinate,
}

struct Vertex {
    uv: [f32; 2],
    /// Next free record, while this one is free.
    coordinate: *mut Coordinate,
    users: u32,
}

pub(super) struct Polygon {
    vertices: *mut *mut Vertex,
    count: u32,
}

/// Number of free lists for vertex lists: one for each length of 3 to 20 vertices.
const LISTS: usize = 18;

/// Records and vertex lists linked by pointers. Freed ones are in linked free lists.
pub(super) struct RawPointers {
    free_coordinates: *mut Coordinate,
    free_vertices: *mut Vertex,
    free_polygons: *mut Polygon,
    free_lists: [*mut *mut Vertex; LISTS],
    polygons: Vec<*mut Polygon>,
    vertex_count: usize,
}

/// Allocates a new record on the heap.
fn new<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

fn list_layout(count: usize) -> Layout {
    Layout::array::<*mut Vertex>(count).unwrap_or(Layout::new::<*mut Vertex>())
}

// SAFETY, for every block below: pointers in live records point to live records. These were made by
// `Box`, or by `alloc` with `list_layout`, in this store, and are freed only in its `drop`. Records
// in the free lists have no other pointers to them. No reference to a record is stored.
impl RawPointers {
    #[inline]
    fn vertex(&mut self, position: [f32; 3], users: u32, uv: [f32; 2]) -> *mut Vertex {
        let (_transformed, _screen, _stamp) = Default::default();
        let next = null_mut();
        let made = Coordinate { position, _transformed, _screen, _stamp, users: 1, next };
        let mut coordinate = self.free_coordinates;
        if coordinate.is_null() {
            coordinate = new(made);
        } else {
            // SAFETY: it is a free record of this store.
            unsafe {
                self.free_coordinates = (*coordinate).next;
                *coordinate = made;
            }
        }
        let made = Vertex { uv, coordinate, users };
        let vertex = self.free_vertices;
        if vertex.is_null() {
            return new(made);
        }
        // SAFETY: it is a free record of this store.
        unsafe {
            self.free_vertices = (*vertex).coordinate.cast();
            *vertex = made;
        }
        vertex
    }

    /// Allocates a polygon with memory for its vertices, which are not written yet.
    #[inline]
    fn polygon(&mut self, count: usize) -> *mut Polygon {
        let vertices = self.list(count);
        let made = Polygon { vertices, count: count as u32 };
        let polygon = self.free_polygons;
        if polygon.is_null() {
            return new(made);
        }
        // SAFETY: it is a free record of this store.
        unsafe {
            self.free_polygons = (*polygon).vertices.cast();
            *polygon = made;
        }
        polygon
    }

    #[inline]
    fn list(&mut self, count: usize) -> *mut *mut Vertex {
        if let Some(free) = self.free_lists.get_mut(count - 3)
            && !free.is_null()
        {
            let list = *free;
            // SAFETY: it is a free list of this store, and begins with a pointer to the next one.
            *free = unsafe { *list }.cast();
            return list;
        }
        let layout = list_layout(count);
        // SAFETY: a list has at least three vertices.
        let list = unsafe { alloc(layout) };
        if list.is_null() {
            handle_alloc_error(layout);
        }
        list.cast()
    }

    /// Reads the positions and texture coordinates of a polygon's corners.
    #[inline]
    fn corners(polygon: *mut Polygon) -> impl Iterator<Item = ([f32; 3], [f32; 2])> {
        // SAFETY: it is a live record, and so are all that it points to.
        unsafe {
            let Polygon { vertices, count } = *polygon;
            (0..count as usize).map(move |n| {
                let vertex = *vertices.add(n);
                ((*(*vertex).coordinate).position, (*vertex).uv)
            })
        }
    }
}

impl Store for RawPointers {
    type Polygon = *mut Polygon;

    fn build(model: &Model) -> Self {
        let mut store = Self {
            free_coordinates: null_mut(),
            free_vertices: null_mut(),
            free_polygons: null_mut(),
            free_lists: [null_mut(); LISTS],
            polygons: Vec::with_capacity(model.faces.len()),
            vertex_count: model.positions.len(),
        };
        let mut vertices: Vec<_> =
            model.positions.iter().map(|&at| store.vertex(at, 0, [at[0], at[1]])).collect();
        for face in &model.faces {
            let polygon = store.polygon(4);
            for (n, &vertex) in face.iter().enumerate() {
                // SAFETY: the vertices are live, and the polygon has memory for four.
                unsafe {
                    (*vertices[vertex as usize]).users += 1;
                    (*polygon).vertices.add(n).write(vertices[vertex as usize]);
                }
            }
            store.polygons.push(polygon);
        }
        store
    }

    fn clip_frame(
        &mut self,
        planes: &[Plane],
        scratch: &mut Scratch<*mut Polygon>,
    ) -> VisibleParts {
        clip_frame(self, planes, scratch)
    }

    #[inline]
    fn temporary(&mut self, polygon: usize, tips: Tips, _: Lifetime) -> *mut Polygon {
        let made = self.polygon(4);
        let [c, d] = tips.map(|at| self.vertex(at, 1, [at[0], at[1]]));
        // SAFETY: the polygon is live and has four vertices, and the new one has memory for four.
        unsafe {
            let list = (*self.polygons[polygon]).vertices;
            let (a, b) = (*list, *list.add(1));
            (*a).users += 1;
            (*b).users += 1;
            (*made).vertices.cast::<[*mut Vertex; 4]>().write([a, b, c, d]);
        }
        made
    }

    #[inline]
    fn remove(&mut self, polygon: *mut Polygon) {
        // SAFETY: it is a live record of this store, and so are all that it points to.
        unsafe {
            let Polygon { vertices, count } = *polygon;
            for n in 0..count as usize {
                let vertex = *vertices.add(n);
                (*vertex).users -= 1;
                if (*vertex).users == 0 {
                    let coordinate = (*vertex).coordinate;
                    (*coordinate).users -= 1;
                    if (*coordinate).users == 0 {
                        (*coordinate).next = self.free_coordinates;
                        self.free_coordinates = coordinate;
                    }
                    (*vertex).coordinate = self.free_vertices.cast();
                    self.free_vertices = vertex;
                }
            }
            match self.free_lists.get_mut(count as usize - 3) {
                Some(free) => {
                    *vertices = (*free).cast();
                    *free = vertices;
                }
                None => dealloc(vertices.cast(), list_layout(count as usize)),
            }
            (*polygon).vertices = self.free_polygons.cast();
            self.free_polygons = polygon;
        }
    }

    #[inline]
    fn coordinates(&self, polygon: &*mut Polygon) -> impl Iterator<Item = f32> {
        Self::corners(*polygon).map(|(position, _)| position[0])
    }

    fn bytes(&self) -> usize {
        let list = 4 * size_of::<*mut Vertex>();
        let polygon = size_of::<*mut Polygon>() + size_of::<Polygon>() + list;
        let vertex = size_of::<Vertex>() + size_of::<Coordinate>();
        self.polygons.len() * polygon + self.vertex_count * vertex
    }
}

impl CutStore for RawPointers {
    fn polygon_count(&self) -> usize {
        self.polygons.len()
    }

    #[inline]
    fn for_each_corner(&self, polygon: usize, mut push: impl FnMut([f32; 3], [f32; 2])) {
        Self::corners(self.polygons[polygon]).for_each(|(position, uv)| push(position, uv));
    }

    fn insert_part(&mut self, polygon: usize, corners: &[CutCorner]) -> *mut Polygon {
        let original = self.polygons[polygon];
        let part = self.polygon(corners.len());
        for (n, corner) in corners.iter().enumerate() {
            // SAFETY: the cutter's numbers are those of the original's corners, and the part has
            // memory for all of the cutter's corners.
            unsafe {
                let vertex = match corner.from {
                    Some(from) => {
                        let vertex = *(*original).vertices.add(from as usize);
                        (*vertex).users += 1;
                        vertex
                    }
                    None => self.vertex(corner.position, 1, corner.uv),
                };
                (*part).vertices.add(n).write(vertex);
            }
        }
        part
    }
}

impl Drop for RawPointers {
    fn drop(&mut self) {
        for polygon in std::mem::take(&mut self.polygons) {
            self.remove(polygon);
        }
        // SAFETY: all records are free here, except vertices that no polygon used. The model has
        // none.
        unsafe {
            while !self.free_coordinates.is_null() {
                self.free_coordinates = Box::from_raw(self.free_coordinates).next;
            }
            while !self.free_vertices.is_null() {
                self.free_vertices = Box::from_raw(self.free_vertices).coordinate.cast();
            }
            while !self.free_polygons.is_null() {
                self.free_polygons = Box::from_raw(self.free_polygons).vertices.cast();
            }
            for (list, count) in self.free_lists.iter_mut().zip(3..) {
                while !list.is_null() {
                    let next = **list;
                    dealloc((*list).cast(), list_layout(count));
                    *list = next.cast();
                }
            }
        }
    }
}
